-- Which part of the window of an absent longer plan this is.
create function sluice_part(elapsed bigint, len bigint, longer bigint) returns bigint language sql immutable as $$
  select greatest(0, least(elapsed / len, longer / len - 1))
$$;
