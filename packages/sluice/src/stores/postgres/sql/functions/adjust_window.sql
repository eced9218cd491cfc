-- As `adjust` of algorithms/fixed-window.ts (an amount below 0 is charged). A window's plan id is its length. Null if
-- the window equals the initial state.
create function sluice_adjust_window(
  was sluice_state, plan bigint[], amount bigint, receipt bigint, phase bigint, now_us bigint
) returns sluice_state language plpgsql immutable as $$
declare
  burst bigint := plan[3];
  s sluice_state := sluice_window_at(was, plan, phase, now_us);
  part bigint := sluice_part(s.ends, s.plan_id, s.turn, plan[4], now_us);
  used bigint := greatest(0, s.current - part * burst);
begin
  if amount < 0 then
    if used >= 2 * burst then
      return was;
    end if;
    s.current := part * burst + least(2 * burst, used - amount);
  elsif used = 0 or (receipt >= 0 and receipt < s.ends - s.plan_id + part * plan[4]) then
    return was;
  else
    s.current := s.current - least(amount, used);
  end if;
  s.turn := sluice_turn(coalesce(s.turn, 0), s.current, burst);
  return case when s.current > 0 or s.turn >= 4 then s end;
end $$;
