-- A fixed window (window, end, count, 0, turn; null for none) with an amount given back, or below 0 taken: the kernel's adjust.
-- returns the state; null where it is as fresh as none
create function sluice_adjust_window(state bigint[], plan bigint[], amount bigint, receipt bigint, phase bigint, now_us bigint) returns bigint[]
language plpgsql immutable as $$
declare
  burst bigint := plan[3];
  len bigint := plan[4];
  fresh bigint := sluice_fresh_end(len, plan[5], phase, now_us);
  -- As it stands at this instant; where nothing comes of it the state stays what it was.
  own bigint := coalesce(state[1], len);
  finish bigint := coalesce(state[2], fresh);
  count bigint := coalesce(state[3], 0);
  turn bigint := coalesce(state[5], 0);
  begun bigint[];
  part bigint;
  used bigint;
begin
  if now_us >= finish then
    begun := sluice_begun(finish, own, turn, len, plan[5], fresh, now_us);
    finish := begun[1];
    count := 0;
    own := begun[2];
    turn := begun[3];
  end if;
  part := case when turn >= 5 and own > len then sluice_part(now_us - finish + own, len, own) else 0 end;
  used := sluice_used(count, part, burst);
  if turn >= 5 and sluice_spent(turn, part, burst) then
    count := used;
    own := own - part * len;
    turn := 6;
    part := 0;
  end if;
  if amount > 0 then
    if used = 0 or (receipt >= 0 and receipt < finish - own + part * len) then
      return state;
    end if;
    count := count - least(amount, used);
    return case when count > 0 or turn >= 4 then array[own, finish, count, 0, sluice_turn(turn, count, burst)] end;
  end if;
  if used >= 2 * burst then
    return state;
  end if;
  count := part * burst + least(2 * burst, used - amount);
  return array[own, finish, count, 0, sluice_turn(turn, count, burst)];
end $$;
