-- Converts a bucket to another plan, which is a limit in numbers. The bucket keeps the tokens that it had under the old
-- plan, capped at the new burst and rounded down. Returns null if the bucket equals the initial state.
create function sluice_adopt_bucket(
  s sluice_state, old_n numeric, old_m numeric, old_burst numeric, plan bigint[], now_us bigint
) returns sluice_state language plpgsql immutable as $$
declare
  n numeric := plan[3];
  m numeric := plan[4];
  burst numeric := plan[5];
  at bigint := greatest(now_us, s.seen);
  full_span numeric := old_burst * old_m;
  -- What is in the bucket, in old_m-ths of a micro-token. It is below 0 if the bucket has a debt.
  level numeric := (at - s.zero) * old_n - coalesce(s.rest, 0);
  -- Caps a debt, so that it is refilled within a hundred years, and the instant at which the bucket is full stays an
  -- exact whole number.
  latest bigint := least(at + 3155760000000000, 9007199254740990 - div(burst * m, n));
  zero numeric;
begin
  if level >= full_span and coalesce(greatest(s.seen, s.zero) + s.keep_for <= at, true) then
    return null;
  end if;
  zero := least(at * n - least(sluice_floor(least(level, full_span) * m, old_m), burst * m), latest * n);
  s.plan_id := plan[2];
  s.zero := sluice_floor(zero, n);
  s.rest := zero - s.zero * n;
  s.seen := at;
  s.keep_for := greatest(s.keep_for, div(full_span + old_n - 1, old_n));
  return s;
end $$;
