-- Which limits were called in the window (docs/algorithms/fixed-window.md). 0 to 3: only limits with windows of one
-- length, which took up to a 64th, a 16th, a quarter or all of the limit (cap). 4: limits with different lengths. 5: so
-- far only limits with shorter windows; each part of the window (as long as theirs) admits their whole limit. 6: as 5,
-- but the count became too large, and began again in one part.
create function sluice_turn(turn bigint, count bigint, cap bigint) returns bigint language sql immutable as $$
  select case
    when turn >= 4 then turn
    when count * 4 > cap then 3
    when count * 16 > cap then 2
    when count * 64 > cap then 1
    else 0
  end
$$;
