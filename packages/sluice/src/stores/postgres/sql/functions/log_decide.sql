-- Decides one call to a sliding window log, or charges a penalty.
--
-- was        the stored row
-- plan       kind, plan id, capacity (micro-tokens), window (microseconds)
-- both_views whether an allowed call also returns the view without its charge
-- taking     for a penalty: charges min(cost, 2 * capacity - used), returns no views
-- verdict    outcome, retryAfter; a view (remaining, replenishAfter, resetAfter) with the charge, and one without
create function sluice_log_decide(
  inout s sluice_state, was sluice_state, plan bigint[], cost bigint, now_us bigint, both_views boolean, taking boolean,
  out verdict bigint[]
) language plpgsql volatile as $$
declare
  cap bigint := plan[3];
  len bigint := plan[4];
  before sluice_state := s;
  shown sluice_state;
  newest bigint := s.newest;
  total bigint := coalesce(s.charged, 0);
  tail bigint := coalesce(s.tail, 0);
  keep_for bigint := coalesce(s.keep_for, 0);
  now_at bigint := greatest(now_us, newest);
  kept_tail bigint := coalesce(was.tail, 0);
  first bigint := tail + 1;
  from_seq bigint := first;
  before_first bigint;
  used bigint;
  kept bigint;
  merges boolean;
  counted bigint;
  more bigint;
begin
  if newest > now_at - len then
    first := sluice_log_first(was.id, s.head, least(tail - 1, kept_tail), now_at - len, null);
  end if;
  before_first := case
    when first > tail then total
    when first > kept_tail then coalesce(was.charged, 0)
    else (select e.base from sluice_log e where e.id = was.id and e.seq = first)
  end;
  used := total - before_first;
  if taking then
    cost := least(cost, 2 * cap - used);
    verdict := array[case when cost <= 0 then 1 else 0 end];
  else
    verdict := array[case when cost > cap then 2 when cost > cap - used then 1 else 0 end, 0, 0, 0, 0, 0, 0, 0];
  end if;
  if verdict[1] = 0 then
    if keep_for = 0 then
      from_seq := first;
    elsif newest > now_at - keep_for then
      from_seq := sluice_log_first(was.id, s.head, least(tail - 1, kept_tail), now_at - keep_for, null);
    end if;
    kept := tail - from_seq + 1;
    merges := kept > 0 and newest = now_at;
    if not merges and kept >= (case when keep_for > 0 then 10000 else (cap + 999999) / 1000000 end) then
      merges := from_seq = first;
      from_seq := least(from_seq + 1, first);
    end if;
    s.plan_id := plan[2];
    s.newest := now_at;
    s.charged := total + cost;
    s.head := from_seq;
    s.tail := case when merges then tail else tail + 1 end;
    s.keep_for := case when kept > 0 then keep_for else 0 end;
  elsif verdict[1] = 1 and not taking then
    verdict[2] := sluice_log_fits(s, was, total + cost - cap, first) + len - now_us;
  end if;
  for view in 0..1 loop
    continue when taking or (view = 0 and verdict[1] > 0) or (view = 1 and verdict[1] = 0 and not both_views);
    shown := case view when 0 then s else before end;
    counted := coalesce(shown.charged, 0) - before_first;
    verdict[3 + 3 * view] := greatest(0, cap - counted) / 1000000;
    more := (verdict[3 + 3 * view] + 1) * 1000000;
    verdict[5 + 3 * view] := case when counted > 0 then shown.newest + len - now_us else 0 end;
    verdict[4 + 3 * view] := case
      when more > cap then verdict[5 + 3 * view]
      else sluice_log_fits(shown, was, shown.charged + more - cap, first) + len - now_us
    end;
  end loop;
end $$;
