-- The turn of a fixed window after a charge says which plans were called in the window. If one plan is called alone
-- (turn 0 to 3), it says how much of the limit was used. That decides how long the window is remembered after its end.
-- count: micro-tokens charged in the window; cap: micro-tokens of the limit
create function sluice_turn(turn bigint, count bigint, cap bigint) returns bigint language sql immutable as $$
  select case
    when turn >= 4 then turn
    when count * 4 > cap then 3
    when count * 16 > cap then 2
    when count * 64 > cap then 1
    else 0
  end
$$;
