-- As `adjust` of algorithms/token-bucket.ts; an amount below 0 is taken. Null if the bucket equals the initial state.
-- The limit refills n micro-tokens in m microseconds. Times are in n-ths of a microsecond: 19 digits or more, so
-- numeric.
create function sluice_adjust_bucket(s sluice_state, plan bigint[], amount bigint, receipt bigint, now_us bigint)
returns sluice_state language plpgsql immutable as $$
declare
  n numeric := plan[3];
  m numeric := plan[4];
  burst bigint := plan[5];
  at bigint := greatest(now_us, s.seen);
  full_span numeric := burst * m;
  -- When a bucket that is full now was empty.
  lowest numeric := at * n - full_span;
  zero numeric := s.zero * n + coalesce(s.rest, 0);
  -- A penalty lowers the bucket to one burst below empty at most.
  deepest numeric := least(at * n + full_span, least(at + 3155760000000000, 9007199254740990 - div(full_span, n)) * n);
begin
  if amount > 0 and receipt >= 0 and receipt * n <= lowest then
    return s;
  end if;
  if s.plan_id is null or zero <= lowest then
    zero := lowest;
    s.keep_for := case when at < greatest(s.seen, s.zero) + s.keep_for then s.keep_for end;
  end if;
  zero := least(zero - greatest(-2 * burst, least(amount, 2 * burst)) * m, greatest(deepest, zero));
  if zero + full_span <= at * n and s.keep_for is null then
    return null;
  end if;
  s.plan_id := plan[2];
  s.zero := sluice_floor(zero, n);
  s.rest := zero - s.zero * n;
  s.seen := at;
  return s;
end $$;
