-- The function and table of the article "Rate limiting with PostgreSQL / YugabyteDB (token buckets function)", made on
-- request only. The function takes one token and returns how many are left, or -1 if there was none.
--
-- tk: whole tokens left; part: millionths of the next token; ts: when the last token was taken. Refills are whole
-- millionths per microsecond, so nothing is rounded.
create table if not exists rate_limiting_token_bucket (
  id text primary key,
  tk bigint not null,
  ts timestamptz not null
);

alter table rate_limiting_token_bucket add column if not exists part int not null default 0;

create or replace function rate_limiting_token_bucket_request(
  rate_id text, refill_per_sec int default 2, window_seconds int default 60
) returns int language plpgsql volatile as $$
declare
  capacity bigint := refill_per_sec::bigint * window_seconds;
  bucket record;
  at timestamptz;
  elapsed bigint;
  level numeric;
begin
  if capacity < 1 or refill_per_sec < 1 then
    return -1;
  end if;
  loop
    select b.tk, b.part, b.ts into bucket from rate_limiting_token_bucket b where b.id = rate_id for update;
    exit when found;
    insert into rate_limiting_token_bucket (id, tk, ts) values (rate_id, capacity, clock_timestamp())
      on conflict (id) do nothing;
  end loop;
  -- The clock is read after the row is locked, because the call may have waited. A clock that is set back adds no
  -- tokens.
  at := greatest(clock_timestamp(), bucket.ts);
  elapsed := (extract(epoch from at - bucket.ts) * 1000000)::bigint;
  level := greatest(bucket.tk, 0) * 1000000::numeric + bucket.part + elapsed::numeric * refill_per_sec;
  level := least(level, capacity * 1000000::numeric);
  if level < 1000000 then
    return -1;
  end if;
  level := level - 1000000;
  update rate_limiting_token_bucket b
    set tk = div(level, 1000000), part = level % 1000000, ts = at where b.id = rate_id;
  return least(div(level, 1000000), 2147483647);
end $$;
