-- Gives back the slot of a holder (one, other), as `release` of algorithms/concurrency.ts. Null if the state equals the
-- initial one.
create function sluice_give_back(was sluice_state, one bigint, other bigint, now_us bigint) returns sluice_state
language plpgsql immutable as $$
declare
  s sluice_state := was;
  held bigint[] := string_to_array(encode(s.state, 'escape'), ' ')::bigint[];
  at bigint := greatest(now_us, held[1]);
  mine int;
  first int;
begin
  select min(b) filter (where held[b + 1] = one and held[b + 2] = other), min(b) into mine, first
    from generate_series(2, cardinality(held) - 5, 5) b where held[b + 4] > at;
  if mine is null then
    return was;
  end if;
  held := array[at, held[2]] || held[first + 1:mine] || held[mine + 6:];
  s.state := array_to_string(held, ' ');
  s.ends := greatest(held[2] + 1, held[cardinality(held) - 1]);
  return case when s.ends > at then s end;
end $$;
