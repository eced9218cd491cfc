-- Decides one call to each of many buckets of one limit, all of one cost. The reply is that of sluice_consume, with
-- outcomes in the order of the ids. The settings prevent scans of the table: query plans that were made while it was
-- small would scan it.
--
-- known_*, shifted_us, settled_us  parameters with the same meaning as those of sluice_bucket
-- known_changes  the known_change of each id, in the order of ids
create function sluice_buckets(
  at_us bigint, waiting int, ids uuid[], call_plan_id bigint, n bigint, m bigint, burst bigint, cost bigint,
  spent_us bigint, spent_parts bigint, empty_us bigint, empty_parts bigint, known_mark uuid, known_changed bigint,
  known_changes bigint[], shifted_us bigint, settled_us bigint
) returns text language plpgsql volatile
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off
set enable_mergejoin = off as $$
declare
  many int := cardinality(ids);
  -- If this is false, sluice_consume locks the rows, one by one.
  locks boolean := waiting < 2 and cost <= burst;
  plain int;
  fresh int;
  made uuid[];
  oldest bigint;
  locked boolean;
  same boolean;
  lies_at tid[];
  a_of bigint[];
  b_of bigint[];
  c_of bigint[];
  d_of bigint[];
  keep_until bigint;
  now_us bigint;
  passed int;
  written int;
  reply text;
begin
  if locks then
    select count(*) filter (
          where k.plan_id = call_plan_id and k.kind = 0 and k.blocked_until is null
        ),
        count(*) filter (where k.lies_at is null),
        min(k.seen), min(k.seen + k.keep_for), array_agg(k.lies_at), array_agg(k.zero),
        array_agg(coalesce(k.rest, 0)), array_agg(k.seen), array_agg(coalesce(k.keep_for, 0))
      into plain, fresh, oldest, keep_until, lies_at, a_of, b_of, c_of, d_of
      from unnest(ids) as x (id) left join lateral (
        select t.ctid as lies_at, t.kind, t.plan_id, t.zero, t.rest, t.seen, t.keep_for, t.blocked_until
          from sluice_state t where t.id = x.id for update
      ) k on true;
  end if;
  if known_mark is not null then
    if plain = many and oldest >= shifted_us then
      -- `r.one` allows an index. With the settings above, a scan would seem so costly that the server compiles the
      -- query plan (JIT).
      locked := pg_advisory_xact_lock_shared(hashtextextended('sluice_region', 0)) is null;
      select not exists (
          select from unnest(ids, known_changes) as x (id, change)
            where coalesce((select c.change from sluice_cell c where c.id = x.id), 0) <> x.change
        )
        into same from sluice_region r
        where r.one and r.changed = known_changed and r.mark = known_mark and r.record is not null
          and sluice_same_run(r.started, r.xmin, r.written)
          and not pg_is_in_recovery() and current_setting('transaction_isolation') = 'read committed';
    end if;
    if same is distinct from true then
      return coalesce(
        sluice_guard(
          at_us, true, ids, known_mark, known_changed, shifted_us, ids, known_changes,
          (select array_agg(i) from generate_series(1, many) i), array_fill(call_plan_id, array[many]),
          array_fill(settled_us, array[many])
        ),
        sluice_buckets(
          at_us, waiting, ids, call_plan_id, n, m, burst, cost, spent_us, spent_parts, empty_us, empty_parts, null, null,
          null, null, null
        )
      );
    end if;
  end if;
  now_us := sluice_now(at_us);
  if plain + fresh is distinct from many or now_us >= keep_until then
    return sluice_consume(
      at_us, true, case when locks then 3 else waiting end, ids, array_fill(1, array[many]), array_fill(1, array[many]),
      array[0, call_plan_id, n, m, burst, 0, 0, 0],
      (select array_agg(v order by i, p)
        from generate_series(1, many) i, unnest(array[i, cost, 1, 0]) with ordinality as u (v, p))
    )::text;
  end if;
  -- New buckets are full, so their calls pass. If another transaction has inserted one of the rows, nothing is charged,
  -- and the caller calls again.
  if fresh > 0 then
    insert into sluice_plan (plan_id, n, m, burst) values (call_plan_id, n, m, burst) on conflict do nothing;
    with inserted as (
      insert into sluice_state (id, kind, plan_id, zero, rest, seen)
        select x.id, 0, call_plan_id, now_us - empty_us + spent_us + (empty_parts + spent_parts) / n,
            nullif((empty_parts + spent_parts) % n, 0), now_us
          from unnest(ids, lies_at) as x (id, lies_at) where x.lies_at is null
        on conflict (id) do nothing returning id
    )
    select array_agg(i.id) into made from inserted i;
    if coalesce(cardinality(made), 0) < fresh then
      delete from sluice_state t where t.id = any(made);
      return null;
    end if;
  end if;
  with found as (
    select x.*, greatest(now_us, x.c) as at, greatest(now_us, x.c) - empty_us as floor
      from unnest(ids, lies_at, a_of, b_of, c_of, d_of) with ordinality as x (id, lies_at, a, b, c, d, nth)
  ), level as (
    select f.*, f.a > f.floor or (f.a = f.floor and f.b > empty_parts) as partly from found f
  ), charged as (
    select l.*, case when l.partly then l.b else empty_parts end + spent_parts as parts,
        case when l.partly then l.a else l.floor end + spent_us as whole
      from level l
  ), decided as materialized (
    select c.*, c.whole + c.parts / n as zero, c.parts % n as rest,
        c.whole + c.parts / n < c.at or (c.whole + c.parts / n = c.at and c.parts % n = 0) as passes
      from charged c
  ), wrote as (
    update sluice_state t set zero = d.zero, rest = nullif(d.rest, 0), seen = d.at from decided d
      where t.ctid = d.lies_at and t.id = d.id and d.passes returning 1
  )
  select count(*) filter (where d.passes), (select count(*) from wrote),
      '{' || now_us || ',' || string_agg(case when d.passes then '0' else '1' end, ',' order by d.nth)
        || string_agg(
          case when d.lies_at is null then ',0,0,0,0,0,0' else ',0,1,' || d.a || ',' || d.b || ',' || d.c || ',' || d.d end,
          '' order by d.nth
        ) || '}'
    into passed, written, reply from decided d;
  if written + fresh <> passed then
    raise exception 'sluice: % rows of % were not where they had been locked', passed - fresh - written, passed - fresh
      using errcode = '40001';
  end if;
  return reply;
end $$;
