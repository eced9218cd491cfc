-- As algorithms/settle-bucket.ts. What was used above the charge is taken now, down to one burst below empty. What was
-- not used is given back, as far as the bucket always had room for it. Times are n-ths of a microsecond: 19 digits or
-- more, so numeric.
create function sluice_settle_bucket(
  was sluice_state, plan bigint[], held bigint, used bigint, mark bigint, now_us bigint,
  out s sluice_state, out charged bigint
) language plpgsql immutable as $$
declare
  n numeric := plan[3];
  m numeric := plan[4];
  full_span numeric := plan[5] * m;
  at bigint := greatest(now_us, was.seen);
  lowest numeric := at * n - full_span;
  zero numeric := greatest(was.zero * n + coalesce(was.rest, 0), lowest);
  room numeric;
begin
  s := was;
  charged := used;
  if used > held then
    room := greatest(0, sluice_floor(at * n - zero + full_span, m));
    charged := held + least(used - held, room);
    if charged > held then
      s := sluice_adjust_bucket(s, plan, held - charged, -1, now_us);
    end if;
    return;
  end if;
  room := full_span - (greatest(zero, at * n) - mark * n);
  if room <= 0 or used = held then
    return;
  elsif (held - used) * m <= room then
    s := sluice_adjust_bucket(s, plan, held - used, -1, now_us);
    return;
  end if;
  if zero = lowest then
    s.keep_for := case when at < greatest(s.seen, s.zero) + s.keep_for then s.keep_for end;
  end if;
  zero := zero - room;
  if zero <= lowest and s.keep_for is null then
    s := null;
    return;
  end if;
  s.plan_id := plan[2];
  s.zero := sluice_floor(zero, n);
  s.rest := zero - s.zero * n;
  s.seen := at;
end $$;
