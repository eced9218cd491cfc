-- Converts a bucket to another limit. It keeps its tokens, capped at the new burst and rounded down. Null if the result
-- equals the initial state.
create function sluice_adopt_bucket(
  s sluice_state, old_n numeric, old_m numeric, old_burst numeric, plan bigint[], now_us bigint
) returns sluice_state language plpgsql immutable as $$
declare
  n numeric := plan[3];
  m numeric := plan[4];
  burst numeric := plan[5];
  at bigint := greatest(now_us, s.seen);
  full_span numeric := old_burst * old_m;
  -- Tokens in the bucket, in old_m-ths of a micro-token; below 0 for a debt.
  level numeric := (at - s.zero) * old_n - coalesce(s.rest, 0);
  -- Caps a debt: it is refilled within a hundred years, and before 2^53 microseconds.
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
