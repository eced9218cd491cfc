-- How much of a counter's previous window still counts, in micro-tokens, rounded up. It falls in steps of one quantum.
-- If an earlier limit with another window wrote the counter, the quantum is the least of 1, 10, 100 ... microseconds
-- that makes at most a million steps.
create function sluice_share(s sluice_state, plan bigint[], now_us bigint) returns bigint
language plpgsql immutable as $$
declare
  quantum bigint := case when s.plan_id = plan[4] then plan[5] else 1 end;
  quanta bigint;
  remaining bigint;
begin
  while s.plan_id <> plan[4] and s.plan_id > 1000000 * quantum loop
    quantum := quantum * 10;
  end loop;
  quanta := s.plan_id / quantum;
  remaining := least(quanta, (s.ends - now_us + quantum - 1) / quantum);
  -- Whole tokens first: the product with micro-tokens would not fit.
  return s.previous / 1000000 * remaining / quanta * 1000000
    + (s.previous / 1000000 * remaining % quanta * 1000000 + s.previous % 1000000 * remaining + quanta - 1) / quanta;
end $$;
