-- Whether the window is counted anew from this part on.
create function sluice_spent(turn bigint, part bigint, most bigint) returns boolean language sql immutable as $$
  select turn = 6 or part + 2 > 9007199254740991 / most
$$;
