-- Charges calls to buckets of one limit, and records their holds; a group is one call and its record. Parameters and
-- reply are those of sluice_consume, with four conditions:
-- - every group has a bucket and a record that no other group has
-- - what is held is the cost of the call, and at most the burst
-- - apart from that, the holds are equal
-- - no call may be charged before its tokens are there
-- Calls sluice_consume if a bucket is absent, blocked or of another limit, or a record exists already.
create function sluice_reserve(
  at_us bigint, charging boolean, waiting int, ids uuid[], firsts int[], sizes int[], plans bigint[], calls bigint[]
) returns text language plpgsql volatile
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off
set enable_mergejoin = off as $$
declare
  many int := cardinality(sizes);
  plan bigint[] := plans[8 * calls[3] - 7:8 * calls[3]];
  hold bigint[] := plans[8 * calls[7] - 7:8 * calls[7]];
  n bigint := plan[3];
  m bigint := plan[4];
  burst bigint := plan[5];
  token_us bigint := m * 1000000 / n;
  token_parts bigint := m * 1000000 % n;
  micro_us bigint := m / n;
  micro_parts bigint := m % n;
  empty_parts bigint := burst / 1000000 * token_parts + burst % 1000000 * micro_parts;
  empty_us bigint := burst / 1000000 * token_us + burst % 1000000 * micro_us + (empty_parts + n - 1) / n;
  there int;
  plain int;
  lies_at tid[];
  a_of bigint[];
  b_of bigint[];
  c_of bigint[];
  now_us bigint;
  passed int;
  written int;
  made int;
  outcomes text;
  buckets text;
begin
  if waiting < 2 then
    select count(k.lies_at), count(*) filter (
          where k.plan_id = plan[2] and k.kind = 0 and k.blocked_until is null and k.keep_for is null
        ),
        array_agg(coalesce(k.lies_at, '(0,0)')), array_agg(coalesce(k.zero, 0)), array_agg(coalesce(k.rest, 0)),
        array_agg(coalesce(k.seen, 0)),
        string_agg(
          case when k.zero is null then ',0,0,0,0,0,0'
            else format(',0,%s,%s,%s,%s,0', calls[3], k.zero, coalesce(k.rest, 0), k.seen) end, '' order by x.nth
        )
      into there, plain, lies_at, a_of, b_of, c_of, buckets
      from unnest(ids) with ordinality as x (id, nth) left join lateral (
        select t.ctid as lies_at, t.kind, t.plan_id, t.zero, t.rest, t.seen, t.keep_for, t.blocked_until
          from sluice_state t where t.id = x.id for update
      ) k on true;
  end if;
  if plain is distinct from many or there <> many then
    return sluice_consume(
      at_us, charging, case when waiting < 2 then 3 else waiting end, ids, firsts, sizes, plans, calls
    )::text;
  end if;
  now_us := sluice_now(at_us);
  empty_parts := (n - empty_parts % n) % n;
  with asked as (
    select g, calls[8 * g - 7] as slot, calls[8 * g - 6] as cost, calls[8 * g - 3] as record
      from generate_series(1, many) g
  ), found as (
    select k.*, a_of[k.slot] as a, b_of[k.slot] as b, greatest(now_us, c_of[k.slot]) as at from asked k
  ), level as (
    select f.*, f.a > f.at - empty_us or (f.a = f.at - empty_us and f.b > empty_parts) as partly from found f
  ), charged as (
    select l.*, case when l.partly then l.b else empty_parts end
          + l.cost / 1000000 * token_parts + l.cost % 1000000 * micro_parts as parts,
        case when l.partly then l.a else l.at - empty_us end
          + l.cost / 1000000 * token_us + l.cost % 1000000 * micro_us as whole
      from level l
  ), decided as materialized (
    select c.*, c.whole + c.parts / n as zero, c.parts % n as rest,
        c.whole + c.parts / n < c.at or (c.whole + c.parts / n = c.at and c.parts % n = 0) as passes
      from charged c
  ), wrote as (
    update sluice_state t set zero = d.zero, rest = nullif(d.rest, 0), seen = d.at from decided d
      where t.ctid = lies_at[d.slot] and t.id = ids[d.slot] and d.passes returning 1
  ), recorded as (
    insert into sluice_state (id, kind, plan_id, ends, state)
      select ids[d.record], 4, 0, now_us + hold[4] + 60000000, format(
          '%s %s %s %s %s %s 0 %s', now_us, now_us + hold[4], hold[5], hold[7], d.cost, d.cost, d.zero
        )::bytea
        from decided d where d.passes order by d.record
      on conflict (id) do nothing returning 1
  )
  select count(*) filter (where d.passes), (select count(*) from wrote), (select count(*) from recorded),
      string_agg(case when d.passes then '0' else '1' end, ',' order by d.g)
    into passed, written, made, outcomes from decided d;
  if written <> passed or made <> passed then
    raise exception 'sluice: rows of % holds were written or made meanwhile', 2 * passed - written - made
      using errcode = '40001';
  end if;
  return '{' || now_us || ',' || outcomes || buckets || '}';
end $$;
