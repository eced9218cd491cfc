-- A bucket (unit, zero, rest, seen, hold; null for none) with an amount given back, or below 0 taken: the kernel's adjust.
-- returns the state in the plan's unit; null where it is as fresh as none
create function sluice_adjust_bucket(state bigint[], plan bigint[], amount bigint, receipt bigint, now_us bigint) returns bigint[]
language plpgsql immutable as $$
declare
  n bigint := plan[3];
  m bigint := plan[4];
  burst bigint := plan[5];
  zero bigint := state[2];
  rest bigint := state[3];
  hold bigint := coalesce(state[5], 0);
  at bigint := greatest(now_us, state[4]);
  full_us bigint := sluice_whole(n, m, burst);
  full_parts bigint := sluice_parts(n, m, burst);
  deepest_us bigint;
  deepest_parts bigint;
  room bigint;
  sum bigint;
begin
  full_us := full_us + full_parts / n;
  full_parts := full_parts % n;
  room := at - full_us - case when full_parts > 0 then 1 else 0 end;
  if amount > 0 and receipt >= 0 and receipt <= room then
    return state;
  end if;
  if state is null or not (zero > room or (zero = room and rest > (n - full_parts) % n)) then
    zero := room;
    rest := (n - full_parts) % n;
    hold := case when hold > 0 and at < state[4] + hold then hold else 0 end;
  end if;
  -- Penalties go to one burst under empty and not further, unless a change of the limit has left it deeper.
  deepest_us := at + full_us;
  deepest_parts := full_parts;
  room := least(at + 3155760000000000, 9007199254740990 - full_us);
  if deepest_us > room or (deepest_us = room and deepest_parts > 0) then
    deepest_us := room;
    deepest_parts := 0;
  end if;
  if zero > deepest_us or (zero = deepest_us and rest > deepest_parts) then
    deepest_us := zero;
    deepest_parts := rest;
  end if;
  sum := least(abs(amount), 2 * burst);
  room := rest - sign(amount) * sluice_parts(n, m, sum);
  rest := (room % n + n) % n;
  zero := zero - sign(amount) * sluice_whole(n, m, sum) + (room - rest) / n;
  if amount < 0 and (zero > deepest_us or (zero = deepest_us and rest > deepest_parts)) then
    zero := deepest_us;
    rest := deepest_parts;
  end if;
  return case when greatest(zero + full_us + (rest + full_parts + n - 1) / n, at + hold) > at then array[plan[2], zero, rest, at, hold] end;
end $$;
