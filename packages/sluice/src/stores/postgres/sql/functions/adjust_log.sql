-- A log (window, newest, charged, head, hold; null for none) with an amount given back, or below 0 taken: the kernel's adjust.
-- charged, head, tail: as the table has it, where the log may be over but not gone
-- returns the state and its tail; null where it is as fresh as none
create function sluice_adjust_log(
  log uuid, state bigint[], charged bigint, head bigint, tail bigint, plan bigint[], amount bigint, receipt bigint, now_us bigint
) returns bigint[] language plpgsql volatile as $$
declare
  looked bigint[];
begin
  if amount < 0 then
    looked := sluice_log_decide(
      log, now_us, plan[3], plan[4], -amount, state[2], charged, head, tail, coalesce(state[5], 0), tail, charged, false, true
    );
    if looked[1] = 0 then
      return array[plan[2], looked[9], looked[10], looked[11], looked[13], looked[12]];
    end if;
  elsif state is not null then
    return sluice_log_refund(log, state || tail, greatest(now_us, state[2]) - plan[4], amount, receipt);
  end if;
  return case when state is not null then state || tail end;
end $$;
