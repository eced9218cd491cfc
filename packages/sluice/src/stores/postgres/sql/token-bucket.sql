-- The token bucket kernel (algorithms/token-bucket.ts) in bigint; products that pass 2^63 in numeric.
-- Divisions are of numbers above 0, where / rounds down; ceil(a / b) is (a + b - 1) / b.

-- How long micro-tokens take to flow in: microseconds times n, so that no rest is lost.
create or replace function sluice_tb_span_v1(n bigint, m bigint, micro bigint, out micros bigint, out rest bigint)
language plpgsql immutable strict as $$
declare
  total numeric := micro::numeric * m;
begin
  micros := div(total, n);
  rest := total - micros::numeric * n;
end $$;

-- Where zero stands at a time, never further back than a full bucket, and whether that is where a full one stands.
create or replace function sluice_tb_filled_v1(
  s sluice_state, n bigint, m bigint, burst bigint, at bigint,
  out zero bigint, out rest bigint, out hold bigint)
language plpgsql immutable as $$
declare
  full_micros bigint;
  full_rest bigint;
begin
  select f.micros, f.rest into full_micros, full_rest from sluice_tb_span_v1(n, m, burst) f;
  zero := at - full_micros;
  rest := 0;
  hold := 0;
  if full_rest > 0 then
    zero := zero - 1;
    rest := n - full_rest;
  end if;
  if s.id is null then
    return;
  end if;
  if s.zero > zero or (s.zero = zero and s.rest > rest) then
    zero := s.zero;
    rest := s.rest;
    hold := s.hold;
  elsif s.hold > 0 and at < s.seen + s.hold then
    hold := s.hold;
  end if;
end $$;

-- First instant from which a state decides like none.
create or replace function sluice_tb_until_v1(s sluice_state) returns bigint
language plpgsql immutable as $$
declare
  f record;
  fresh bigint;
begin
  f := sluice_tb_span_v1(s.n, s.m, s.burst);
  fresh := s.zero + f.micros + (s.rest + f.rest + s.n - 1) / s.n;
  return case when s.hold > 0 then greatest(fresh, s.seen + s.hold) else fresh end;
end $$;

-- The state in a changed plan's unit: what the old plan would have left, cut to the new burst, rounded against the key.
create or replace function sluice_tb_adopt_v1(s sluice_state, n bigint, m bigint, burst bigint, now_us bigint) returns sluice_state
language plpgsql immutable as $$
declare
  at bigint := greatest(now_us, s.seen);
  old record;
  f record;
  scaled numeric;
  micro bigint;
  part numeric;
  span record;
  behind bigint;
  back bigint;
  made sluice_state;
begin
  if s.n = n and s.m = m and s.burst = burst then
    return s;
  end if;
  if sluice_tb_until_v1(s) <= at then
    return null;
  end if;
  old := sluice_tb_filled_v1(s, s.n, s.m, s.burst, at);
  scaled := (at - old.zero)::numeric * s.n - old.rest;
  micro := greatest(0, div(scaled, s.m));
  part := greatest(0, scaled - micro::numeric * s.m);
  if micro >= burst then
    micro := burst;
    part := 0;
  end if;
  span := sluice_tb_span_v1(n, m, micro);
  behind := span.rest + div(part * m, s.m);
  back := (behind + n - 1) / n;
  f := sluice_tb_span_v1(s.n, s.m, s.burst);
  made := s;
  made.zero := at - span.micros - back;
  made.rest := back * n - behind;
  made.hold := greatest(s.hold, f.micros + case when f.rest > 0 then 1 else 0 end);
  made.n := n;
  made.m := m;
  made.burst := burst;
  return made;
end $$;

-- What is left at a time: whole tokens, microseconds until one more, until full.
create or replace function sluice_tb_look_v1(
  n bigint, m bigint, burst bigint, zero bigint, rest bigint, at bigint, now_us bigint,
  out remaining bigint, out replenish_after bigint, out reset_after bigint)
language plpgsql immutable strict as $$
declare
  span record;
  full_at bigint;
begin
  remaining := greatest(0, div((at - zero)::numeric * n - rest, m::numeric * 1000000));
  span := sluice_tb_span_v1(n, m, burst);
  full_at := zero + span.micros + (rest + span.rest + n - 1) / n;
  reset_after := case when full_at > at then full_at - now_us else 0 end;
  if (remaining + 1) * 1000000 > burst then
    replenish_after := reset_after;
  else
    span := sluice_tb_span_v1(n, m, (remaining + 1) * 1000000);
    replenish_after := zero + span.micros + (rest + span.rest + n - 1) / n - now_us;
  end if;
end $$;
