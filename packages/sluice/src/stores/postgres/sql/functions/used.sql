-- What was taken in this part.
create function sluice_used(count bigint, part bigint, most bigint) returns bigint language sql immutable as $$
  select case when part > 9007199254740991 / most then 0 else greatest(0, count - part * most) end
$$;
