-- A bucket in a changed plan's unit: what the old plan would have left, cut to the new burst, rounded against the key.
-- returns zero, rest, seen, hold; null where the state is as fresh as none
create function sluice_adopt_bucket(
  zero bigint, rest bigint, seen bigint, hold bigint, old_n bigint, old_m bigint, old_burst bigint, n bigint, m bigint, burst bigint, now_us bigint
) returns bigint[] language plpgsql immutable as $$
declare
  at bigint := greatest(now_us, seen);
  full_whole bigint := sluice_whole(old_n, old_m, old_burst);
  full_parts bigint := sluice_parts(old_n, old_m, old_burst);
  level numeric;
  micro numeric;
  part numeric;
  behind numeric;
  back numeric;
  latest bigint;
begin
  if greatest(zero + full_whole + (rest + full_parts + old_n - 1) / old_n, case when hold > 0 then seen + hold end) <= at then
    return null;
  end if;
  -- The level in m-ths of a micro-token, below 0 what is owed; a fraction of one micro-token lasts part * m / old_m n-ths of a microsecond.
  level := least((at - zero)::numeric * old_n - rest, old_burst::numeric * old_m);
  part := mod(mod(level, old_m) + old_m, old_m);
  micro := div(level - part, old_m);
  if micro >= burst then
    micro := burst;
    part := 0;
  end if;
  behind := micro * m + div(part * m, old_m);
  back := div(behind, n);
  if back * n < behind then
    back := back + 1;
  end if;
  -- What is owed flows in within a hundred years, and the bucket is full before whole numbers end.
  latest := least(at + 3155760000000000, 9007199254740990 - sluice_whole(n, m, burst) - sluice_parts(n, m, burst) / n);
  if at - back > latest or (at - back = latest and back * n > behind) then
    zero := latest;
    rest := 0;
  else
    zero := at - back;
    rest := back * n - behind;
  end if;
  return array[zero, rest, at, greatest(hold, full_whole + (full_parts + old_n - 1) / old_n)];
end $$;
