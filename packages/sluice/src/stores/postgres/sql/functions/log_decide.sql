-- One call to a log, or a penalty (taking: as much of the cost as two limits leave, without asking).
-- newest, total, head, tail, hold: the state; newest null for none. kept_tail, kept_total: as the table has it.
-- returns outcome, retryAfter; remaining, replenishAfter, resetAfter once charged, and the same uncharged (both, or a denial);
-- then the state with the charge: newest, total, head, tail, hold.
create function sluice_log_decide(
  log uuid, now_us bigint, cap bigint, len bigint, cost bigint, newest bigint, total bigint, head bigint, tail bigint,
  hold bigint, kept_tail bigint, kept_total bigint, both_views boolean, taking boolean
) returns bigint[] language plpgsql volatile as $$
declare
  reply bigint[] := array_fill(0::bigint, array[13]);
  now_at bigint := greatest(now_us, newest);
  first bigint;
  from_seq bigint;
  before_first bigint;
  used bigint;
  charge bigint := cost;
  kept bigint;
  merges boolean;
  outcome int;
  counted bigint;
  remaining bigint;
  more bigint;
  reset_after bigint;
begin
  first := case
    when newest is null or newest <= now_at - len then tail + 1
    else sluice_log_after(log, now_at - len, head, least(tail - 1, kept_tail))
  end;
  before_first := case
    when first > tail then total
    when first > kept_tail then kept_total
    else (select e.base from sluice_log e where e.id = log and e.seq = first)
  end;
  used := total - before_first;
  if taking then
    charge := least(cost, 2 * cap - used);
    outcome := case when charge <= 0 then 1 else 0 end;
  else
    outcome := case when cost > cap then 2 when cost > cap - used then 1 else 0 end;
  end if;
  reply[1] := outcome;
  if outcome = 0 then
    from_seq := case
      when hold = 0 then first
      when newest is null or newest <= now_at - hold then tail + 1
      else sluice_log_after(log, now_at - hold, head, least(tail - 1, kept_tail))
    end;
    kept := tail - from_seq + 1;
    merges := kept > 0 and newest = now_at;
    if not merges and kept >= (case when hold > 0 then 10000 else (cap + 999999) / 1000000 end) then
      if from_seq < first then
        from_seq := from_seq + 1;
      else
        merges := true;
      end if;
    end if;
    reply[9] := now_at;
    reply[10] := total + charge;
    reply[11] := from_seq;
    reply[12] := case when merges then tail else tail + 1 end;
    reply[13] := case when kept > 0 then hold else 0 end;
  elsif outcome = 1 and not taking then
    reply[2] := sluice_log_fits(log, total + cost - cap, first, tail, newest, kept_tail, kept_total) + len - now_us;
  end if;
  for view in 0..1 loop
    -- Once charged, the entry that takes the charge stands at its instant.
    if taking or (view = 0 and outcome <> 0) or (view = 1 and outcome = 0 and not both_views) then
      continue;
    end if;
    counted := used + case view when 0 then charge else 0 end;
    remaining := greatest(0, cap - counted) / 1000000;
    more := (remaining + 1) * 1000000;
    reset_after := case when counted > 0 then case view when 0 then now_at else newest end + len - now_us else 0 end;
    reply[3 + 3 * view] := remaining;
    reply[4 + 3 * view] := case
      when more > cap then reset_after
      when view = 0 and before_first + counted + more - cap > total then now_at + len - now_us
      else sluice_log_fits(
        log, before_first + counted + more - cap, first, tail, case when view = 0 and merges then now_at else newest end, kept_tail,
        kept_total
      ) + len - now_us
    end;
    reply[5 + 3 * view] := reset_after;
  end loop;
  return reply;
end $$;
