-- One call to a token bucket, for callers in any language: the one function whose name stays. It shares its state with a limiter that is
-- called limiter, has a limit of this name, rate and burst, and is asked for the same key.
--
-- tokens   that flow in each period; burst: the most that the bucket holds; cost: of this call, in tokens, with up to six decimals
-- returns  outcome: allowed, denied or impossible (cost above burst); remaining: whole tokens; retry_after_ms: milliseconds, rounded up; null where
--          waiting does not help, or need not
create or replace function sluice_check(
  limiter text, limit_name text, key text, tokens bigint, period interval, burst bigint, cost numeric default 1
) returns table (outcome text, remaining bigint, retry_after_ms bigint) language plpgsql volatile as $$
declare
  micros bigint := round(extract(epoch from period) * 1000000);
  divisor bigint;
  n bigint;
  m bigint;
  amount bigint := round(cost * 1000000);
  state_name text;
  which uuid;
  own_unit bigint;
  reply bigint[];
  s record;
  at bigint;
begin
  if limiter is null or limit_name is null or coalesce(key, '') = '' then
    raise exception 'sluice_check: limiter, limit_name and key are texts, and a key is not empty' using errcode = '22023';
  end if;
  if tokens is null or tokens < 1 or tokens > 9007199254 or burst is null or burst < 1 or burst > 9007199254 or micros is null or micros < 1 then
    raise exception 'sluice_check: tokens % in % with burst %: expected 1 to 9007199254 tokens, and a period above 0', tokens, period, burst
      using errcode = '22023';
  end if;
  if micros::numeric * burst / tokens > 3155760000000000 then
    raise exception 'sluice_check: tokens % in % with burst %: a bucket fills within a hundred years', tokens, period, burst using errcode = '22023';
  end if;
  if amount is null or amount < 1 or amount <> cost * 1000000 then
    raise exception 'sluice_check: cost is %: expected a number above 0 with up to six decimals', cost using errcode = '22023';
  end if;
  divisor := gcd(micros, tokens * 1000000);
  n := tokens * 1000000 / divisor;
  m := micros / divisor;
  state_name := sluice_name_part(limiter, '[A-Za-z0-9_.@+=,;~!/-]') || ':' || sluice_name_part(limit_name, '[A-Za-z0-9_.@+=,;~!/-]') || ':tb:';
  key := sluice_name_part(key, '[A-Za-z0-9_.@+=,;~!/:-]');
  if length(key) > 200 then
    key := '#' || encode(sha256(convert_to(key, 'UTF8')), 'hex');
  end if;
  which := left(encode(sha256(convert_to(state_name || key, 'UTF8')), 'hex'), 32)::uuid;
  own_unit := ('x0' || left(encode(sha256(convert_to(n || ' ' || m || ' ' || burst * 1000000, 'UTF8')), 'hex'), 15))::bit(64)::bigint;
  while reply is null loop
    reply := sluice_consume(
      0, true, 1, array[which], array[1], array[1], array[0, own_unit, n, m, burst * 1000000, 0, 0, 0], array[1, least(amount, burst * 1000000 + 1), 1, 0]
    );
  end loop;
  outcome := (array['allowed', 'denied', 'impossible'])[reply[2] + 1];
  -- The row is locked, and stands as the call has left it.
  select t.zero, coalesce(t.rest, 0) as rest, t.seen, t.unit, t.blocked_until into s from sluice_state t where t.id = which;
  at := greatest(reply[1], s.seen);
  remaining := case
    when s.blocked_until > reply[1] then 0
    when s.unit is null then burst
    else greatest(0, least(burst, div(div((at - s.zero)::numeric * n - s.rest, m), 1000000)))
  end;
  if outcome = 'denied' then
    retry_after_ms := greatest(
      s.blocked_until - reply[1],
      div(s.zero::numeric * n + s.rest + amount::numeric * m + n - 1, n)::bigint - reply[1]
    );
    retry_after_ms := (retry_after_ms + 999) / 1000;
  end if;
  return next;
end $$;
