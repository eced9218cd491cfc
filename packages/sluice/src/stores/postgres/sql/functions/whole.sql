-- Micro-tokens take whole microseconds to flow in, and parts: n-ths of one, as many as there are.
create function sluice_whole(n bigint, m bigint, micro bigint) returns bigint language sql immutable as $$
  select micro / 1000000 * (m * 1000000 / n) + micro % 1000000 * (m / n)
$$;
