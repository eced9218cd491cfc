-- The largest whole number not above x / d; the division of numeric would round.
create function sluice_floor(x numeric, d numeric) returns numeric language sql immutable as $$
  select div(x - mod(mod(x, d) + d, d), d)
$$;
