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
  micro bigint;
  part numeric;
  behind bigint;
  back bigint;
  parts bigint;
begin
  if greatest(s.zero + full_whole + (s.rest + full_parts + s.n - 1) / s.n, case when s.hold > 0 then s.seen + s.hold end) <= at then
    return null;
  end if;
  -- The level in m-ths of a micro-token; a fraction of one micro-token lasts part * m / s.m n-ths of a microsecond.
  level := least((at - s.zero)::numeric * s.n - s.rest, s.burst::numeric * s.m);
  micro := greatest(0, div(level, s.m));
  part := greatest(0, level - micro::numeric * s.m);
  if micro >= burst then
    micro := burst;
    part := 0;
  end if;
  parts := sluice_tb_parts_v1(n, m, micro);
  behind := parts % n + div(part * m, s.m);
  back := (behind + n - 1) / n;
  s.zero := at - sluice_tb_whole_v1(n, m, micro) - parts / n - back;
  s.rest := back * n - behind;
  s.seen := at;
  s.hold := greatest(s.hold, full_whole + (full_parts + s.n - 1) / s.n);
  s.n := n;
  s.m := m;
  s.burst := burst;
  parts := s.rest + sluice_tb_parts_v1(n, m, burst);
  s.until := greatest(s.zero + sluice_tb_whole_v1(n, m, burst) + (parts + n - 1) / n, s.seen + s.hold);
  return s;
end $$;
