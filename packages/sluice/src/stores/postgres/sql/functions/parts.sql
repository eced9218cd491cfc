create function sluice_parts(n bigint, m bigint, micro bigint) returns bigint language sql immutable as $$
  select micro / 1000000 * (m * 1000000 % n) + micro % 1000000 * (m % n)
$$;
