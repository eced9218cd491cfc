-- How long a plan that is alone is remembered.
create function sluice_turn(turn bigint, count bigint, most bigint) returns bigint language sql immutable as $$
  select case when turn >= 4 then turn when count * 4 > most then 3 when count * 16 > most then 2 when count * 64 > most then 1 else 0 end
$$;
