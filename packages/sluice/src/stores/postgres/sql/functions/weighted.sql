-- ceil(previous * remaining / quanta), whole tokens first.
create function sluice_weighted(previous bigint, remaining bigint, quanta bigint) returns bigint language sql immutable as $$
  select previous / 1000000 * remaining / quanta * 1000000
    + (previous / 1000000 * remaining % quanta * 1000000 + previous % 1000000 * remaining + quanta - 1) / quanta
$$;
