-- The token bucket kernel (algorithms/token-bucket.ts) in bigint, for which plans are made; products that pass 2^63 in numeric.
-- Divisions are of numbers above 0, where / rounds down; ceil(a / b) is (a + b - 1) / b.
-- One expression in SQL costs no call: PostgreSQL puts it in the place where it is used.

-- A state while it is decided. until: null as long as the row says the same.
create type sluice_tb_v1 as (
  zero bigint, rest bigint, seen bigint, hold bigint, n bigint, m bigint, burst bigint, until bigint
);

-- Micro-tokens take whole microseconds to flow in, and parts: n-ths of one, as many as there are.
create function sluice_tb_whole_v1(n bigint, m bigint, micro bigint) returns bigint language sql immutable as $$
  select micro / 1000000 * (m * 1000000 / n) + micro % 1000000 * (m / n)
$$;

create function sluice_tb_parts_v1(n bigint, m bigint, micro bigint) returns bigint language sql immutable as $$
  select micro / 1000000 * (m * 1000000 % n) + micro % 1000000 * (m % n)
$$;

-- The state in a changed plan's unit: what the old plan would have left, cut to the new burst, rounded against the key. Null
-- where the state is as fresh as none.
create function sluice_tb_adopt_v1(s sluice_tb_v1, n bigint, m bigint, burst bigint, now_us bigint) returns sluice_tb_v1
language plpgsql immutable as $$
declare
  at bigint := greatest(now_us, s.seen);
  full_whole bigint := sluice_tb_whole_v1(s.n, s.m, s.burst);
  full_parts bigint := sluice_tb_parts_v1(s.n, s.m, s.burst);
  level numeric;
  micro numeric;
  part numeric;
  behind numeric;
  back numeric;
  latest bigint;
  parts bigint;
begin
  if greatest(s.zero + full_whole + (s.rest + full_parts + s.n - 1) / s.n, case when s.hold > 0 then s.seen + s.hold end) <= at then
    return null;
  end if;
  -- The level in m-ths of a micro-token, below 0 what is owed; a fraction of one micro-token lasts part * m / s.m n-ths of a microsecond.
  level := least((at - s.zero)::numeric * s.n - s.rest, s.burst::numeric * s.m);
  part := mod(mod(level, s.m) + s.m, s.m);
  micro := div(level - part, s.m);
  if micro >= burst then
    micro := burst;
    part := 0;
  end if;
  behind := micro * m + div(part * m, s.m);
  back := div(behind, n);
  if back * n < behind then
    back := back + 1;
  end if;
  -- What is owed flows in within a hundred years, and the bucket is full before whole numbers end.
  latest := least(at + 3155760000000000, 9007199254740990 - sluice_tb_whole_v1(n, m, burst) - sluice_tb_parts_v1(n, m, burst) / n);
  if at - back > latest or (at - back = latest and back * n > behind) then
    s.zero := latest;
    s.rest := 0;
  else
    s.zero := at - back;
    s.rest := back * n - behind;
  end if;
  s.seen := at;
  s.hold := greatest(s.hold, full_whole + (full_parts + s.n - 1) / s.n);
  s.n := n;
  s.m := m;
  s.burst := burst;
  parts := s.rest + sluice_tb_parts_v1(n, m, burst);
  s.until := greatest(s.zero + sluice_tb_whole_v1(n, m, burst) + (parts + n - 1) / n, s.seen + s.hold);
  return s;
end $$;
