-- Turn 4 or more: limits with windows of different lengths were called (docs/decisions/0006). Turn 0 to 3: how much of
-- the limit (cap) was used, which decides how long the window is remembered after its end.
create function sluice_turn(turn bigint, count bigint, cap bigint) returns bigint language sql immutable as $$
  select case
    when turn >= 4 then turn
    when count * 4 > cap then 3
    when count * 16 > cap then 2
    when count * 64 > cap then 1
    else 0
  end
$$;
