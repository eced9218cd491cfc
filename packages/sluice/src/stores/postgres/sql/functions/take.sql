-- Takes a slot for a holder, as algorithms/concurrency.ts. A state has the latest time at which it was written, and the
-- last fencing number; then for each holder, ordered by end: id (two numbers), cost, end, fencing number.
--
-- one, other   the holder's id in two numbers; -1 and 0 for none
-- returns      s: unchanged if the holder gets no slot or has one; step: 0 allowed, 1 denied, 2 impossible
create function sluice_take(
  was sluice_state, most bigint, duration bigint, one bigint, other bigint, cost bigint, now_us bigint,
  out s sluice_state, out step int
) language plpgsql immutable as $$
declare
  held bigint[];
  at bigint := now_us;
  last bigint := now_us;
  used bigint := 0;
  live int := 0;
  mine int := 0;
  before int := 0;
  first int;
begin
  s := was;
  if s.plan_id is not null then
    held := string_to_array(encode(s.state, 'escape'), ' ')::bigint[];
    at := greatest(now_us, held[1]);
    last := greatest(at, held[2] + 1);
    select coalesce(sum(held[b + 3]), 0), count(*), count(*) filter (where held[b + 1] = one and held[b + 2] = other),
        count(*) filter (where held[b + 4] <= at + duration)
      into used, live, mine, before
      from generate_series(2, cardinality(held) - 5, 5) b where held[b + 4] > at;
  end if;
  step := case when cost > most then 2 when mine > 0 or (used + cost <= most and live < 4000) then 0 else 1 end;
  if step = 0 and mine = 0 then
    first := cardinality(held) - 5 * live;
    held := array[at, last] || held[first + 1:first + 5 * before]
      || array[greatest(one, 0), case when one < 0 then 0 else other end, cost, at + duration, last]
      || held[first + 5 * before + 1:];
    s.state := array_to_string(held, ' ');
    s.plan_id := 0;
    s.ends := greatest(last + 1, held[cardinality(held) - 1]);
  end if;
end $$;
