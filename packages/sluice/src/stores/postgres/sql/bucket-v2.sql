-- Calls of one cost to one bucket, each a group of its own: what most calls are, and what callers of a busy key ask together. As sluice_consume_v2, and with
-- the same answer, in the fewest expressions, for each of them is prepared anew in every transaction; the caller has worked out what does not depend on the state.
-- A state that is not there, of another unit, held or blocked is left to the function for all.
--
-- times     how many calls
-- spent_*   what the cost moves zero by: whole microseconds, and n-ths of one
-- empty_*   so much before now a bucket that is full now was empty: whole microseconds back, and n-ths of one forward again
create function sluice_bucket_v2(
  given bigint, waiting int, times int, which uuid, own_unit bigint, n bigint, m bigint, burst bigint, cost bigint, spent_us bigint, spent_parts bigint,
  empty_us bigint, empty_parts bigint
) returns text language plpgsql volatile as $$
declare
  s record;
  now_us bigint;
  at bigint;
  zero bigint;
  rest bigint;
  next_zero bigint;
  next_rest bigint;
  passed int := 0;
begin
  select t.unit, t.a, coalesce(t.b, 0) as b, t.c, t.hold, t.until into s from sluice_state t where t.id = which for update;
  if s.unit is distinct from own_unit or s.until is not null or s.hold is not null or cost > burst then
    return sluice_consume_v2(
      given, true, waiting, array[which], array[1], array_fill(1, array[times]), array[0, own_unit, n, m, burst, 0, 0, 0],
      ('{' || rtrim(repeat(format('1,%s,1,0,', cost), times), ',') || '}')::bigint[]
    )::text;
  end if;
  now_us := case when given = 0 then (extract(epoch from clock_timestamp()) * 1000000)::bigint else given end;
  at := greatest(now_us, s.c);
  zero := at - empty_us;
  rest := empty_parts;
  if s.a > zero or (s.a = zero and s.b > rest) then
    zero := s.a;
    rest := s.b;
  end if;
  while passed < times loop
    next_rest := rest + spent_parts;
    next_zero := zero + spent_us + next_rest / n;
    next_rest := next_rest % n;
    exit when next_zero > at or (next_zero = at and next_rest > 0);
    zero := next_zero;
    rest := next_rest;
    passed := passed + 1;
  end loop;
  if passed > 0 then
    update sluice_state t set a = zero, b = nullif(rest, 0), c = at where t.id = which;
  end if;
  return format('{%s,%s0,1,%s,%s,%s,0}', now_us, repeat('0,', passed) || repeat('1,', times - passed), s.a, s.b, s.c);
end $$;
