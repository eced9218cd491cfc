-- One call to a log, or a penalty (taking: as much of the cost as two limits leave, without asking).
-- was: as the table has it. told: outcome, retryAfter; remaining, replenishAfter, resetAfter once charged, and the same
-- uncharged (both, or a denial). s: with the charge, where the outcome is 0.
create function sluice_log_decide(
  inout s sluice_state, was sluice_state, plan bigint[], cost bigint, now_us bigint, both_views boolean, taking boolean,
  out told bigint[]
) language plpgsql volatile as $$
declare
  cap bigint := plan[3];
  len bigint := plan[4];
  newest bigint := s.newest;
  total bigint := coalesce(s.charged, 0);
  tail bigint := coalesce(s.tail, 0);
  hold bigint := coalesce(s.hold, 0);
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
  reset_after bigint;
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
    told := array[case when cost <= 0 then 1 else 0 end];
  else
    told := array[case when cost > cap then 2 when cost > cap - used then 1 else 0 end, 0, 0, 0, 0, 0, 0, 0];
  end if;
  if told[1] = 0 then
    if hold = 0 then
      from_seq := first;
    elsif newest > now_at - hold then
      from_seq := sluice_log_first(was.id, s.head, least(tail - 1, kept_tail), now_at - hold, null);
    end if;
    kept := tail - from_seq + 1;
    merges := kept > 0 and newest = now_at;
    if not merges and kept >= (case when hold > 0 then 10000 else (cap + 999999) / 1000000 end) then
      if from_seq < first then
        from_seq := from_seq + 1;
      else
        merges := true;
      end if;
    end if;
    s.unit := plan[2];
    s.newest := now_at;
    s.charged := total + cost;
    s.head := from_seq;
    s.tail := case when merges then tail else tail + 1 end;
    s.hold := case when kept > 0 then hold else 0 end;
  elsif told[1] = 1 and not taking then
    told[2] := sluice_log_fits(was, total + cost - cap, first, tail, newest) + len - now_us;
  end if;
  for view in 0..1 loop
    -- Once charged, the entry that takes the charge stands at its instant.
    continue when taking or (view = 0 and told[1] > 0) or (view = 1 and told[1] = 0 and not both_views);
    counted := used + case view when 0 then cost else 0 end;
    told[3 + 3 * view] := greatest(0, cap - counted) / 1000000;
    more := (told[3 + 3 * view] + 1) * 1000000;
    reset_after := case when counted > 0 then case view when 0 then now_at else newest end + len - now_us else 0 end;
    told[4 + 3 * view] := case
      when more > cap then reset_after
      when view = 0 and before_first + counted + more - cap > total then now_at + len - now_us
      else sluice_log_fits(
        was, before_first + counted + more - cap, first, tail, case when view = 0 and merges then now_at else newest end
      ) + len - now_us
    end;
    told[5 + 3 * view] := reset_after;
  end loop;
end $$;
