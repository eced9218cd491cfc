-- Decides calls of one cost to one bucket, each by itself. The server prepares each expression again in every
-- transaction. So there are few, and the caller computes what does not depend on the state. sluice_consume decides
-- other cases, and replies in the same form.
--
-- n, m      n micro-tokens are refilled in m microseconds
-- spent_*   how long the cost takes to refill: whole microseconds, plus n-ths of one
-- empty_*   how long a whole bucket takes to refill: whole microseconds, less n-ths of one
-- known_*   as in sluice_guard, like shifted_us and settled_us; null unless the limit is a region's share. The locks of
--           sluice_guard are taken here, in its order: sluice_guard would lock the state a second time
create function sluice_bucket(
  at_us bigint, waiting int, times int, which uuid, call_plan_id bigint, n bigint, m bigint, burst bigint, cost bigint,
  spent_us bigint, spent_parts bigint, empty_us bigint, empty_parts bigint, known_mark uuid, known_changed bigint,
  known_change bigint, shifted_us bigint, settled_us bigint
) returns text language plpgsql volatile as $$
declare
  s record;
  locked boolean;
  same boolean;
  now_us bigint;
  at bigint;
  empty_at bigint;
  parts bigint;
  next_at bigint;
  next_parts bigint;
  passed int := 0;
begin
  select t.kind, t.plan_id, t.zero, coalesce(t.rest, 0) as rest, t.seen, t.keep_for, t.blocked_until
    into s from sluice_state t where t.id = which for update;
  if known_mark is not null then
    if s.plan_id = call_plan_id and s.seen >= shifted_us then
      -- An assignment costs less than a statement.
      locked := pg_advisory_xact_lock_shared(hashtextextended('sluice_region', 0)) is null;
      select coalesce(c.change, 0) = known_change into same
        from sluice_region r left join sluice_cell c on c.id = which
        where r.changed = known_changed and r.mark = known_mark and r.record is not null
          and sluice_same_run(r.started, r.xmin, r.written)
          and not pg_is_in_recovery() and current_setting('transaction_isolation') = 'read committed';
    end if;
    if same is distinct from true then
      return coalesce(
        sluice_guard(
          at_us, true, array[which], known_mark, known_changed, shifted_us, array[which], array[known_change], array[1],
          array[call_plan_id], array[settled_us]
        ),
        sluice_bucket(
          at_us, waiting, times, which, call_plan_id, n, m, burst, cost, spent_us, spent_parts, empty_us, empty_parts, null,
          null, null, null, null
        )
      );
    end if;
  end if;
  now_us := sluice_now(at_us);
  if s.plan_id is distinct from call_plan_id or s.kind <> 0 or s.blocked_until is not null
      or now_us >= s.seen + s.keep_for or cost > burst then
    -- The bucket of a new key is full, so its call passes. Here `found` is false only if the bucket has no row.
    if not found and waiting = 1 and times = 1 and cost <= burst then
      parts := empty_parts + spent_parts;
      insert into sluice_plan (plan_id, n, m, burst) values (call_plan_id, n, m, burst) on conflict do nothing;
      insert into sluice_state (id, kind, plan_id, zero, rest, seen)
        values (which, 0, call_plan_id, now_us - empty_us + spent_us + parts / n, nullif(parts % n, 0), now_us)
        on conflict (id) do nothing;
      return case when found then format('{%s,0,0,0,0,0,0,0}', now_us) end;
    end if;
    return sluice_consume(
      at_us, true, waiting, array[which], array[1], array_fill(1, array[times]),
      array[0, call_plan_id, n, m, burst, 0, 0, 0],
      ('{' || rtrim(repeat(format('1,%s,1,0,', cost), times), ',') || '}')::bigint[]
    )::text;
  end if;
  at := greatest(now_us, s.seen);
  empty_at := at - empty_us;
  parts := empty_parts;
  if s.zero > empty_at or (s.zero = empty_at and s.rest > parts) then
    empty_at := s.zero;
    parts := s.rest;
  end if;
  while passed < times loop
    next_parts := parts + spent_parts;
    next_at := empty_at + spent_us + next_parts / n;
    next_parts := next_parts % n;
    exit when next_at > at or (next_at = at and next_parts > 0);
    empty_at := next_at;
    parts := next_parts;
    passed := passed + 1;
  end loop;
  if passed > 0 then
    update sluice_state t set zero = empty_at, rest = nullif(parts, 0), seen = at where t.id = which;
  end if;
  return format(
    '{%s,%s0,1,%s,%s,%s,%s}', now_us, repeat('0,', passed) || repeat('1,', times - passed), s.zero, s.rest, s.seen,
    coalesce(s.keep_for, 0)
  );
end $$;
