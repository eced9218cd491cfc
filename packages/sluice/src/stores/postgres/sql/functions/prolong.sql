-- Moves the end of a holder's slot to `duration` microseconds from now, unless it ends later already.
create function sluice_prolong(was sluice_state, one bigint, other bigint, duration bigint, now_us bigint)
returns sluice_state language plpgsql immutable as $$
declare
  s sluice_state := was;
  held bigint[] := string_to_array(encode(s.state, 'escape'), ' ')::bigint[];
  at bigint := greatest(now_us, held[1]);
  until bigint := at + duration;
  mine int;
  first int;
  before int;
  others bigint[];
begin
  select min(b) filter (where held[b + 1] = one and held[b + 2] = other), min(b), count(*) filter (where held[b + 4] <= until)
    into mine, first, before
    from generate_series(2, cardinality(held) - 5, 5) b where held[b + 4] > at;
  if mine is null or until <= held[mine + 4] then
    return was;
  end if;
  others := held[first + 1:mine] || held[mine + 6:];
  -- `before` counts the holder itself, who is not among `others`.
  before := 5 * (before - 1);
  held := array[at, held[2]] || others[1:before] || held[mine + 1:mine + 3] || until || held[mine + 5] || others[before + 1:];
  s.state := array_to_string(held, ' ');
  s.ends := greatest(held[2] + 1, held[cardinality(held) - 1]);
  return s;
end $$;
