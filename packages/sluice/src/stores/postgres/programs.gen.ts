// Made from the programs beside this file by `npm run generate`; edit those, not this.

export const migrations: readonly { readonly name: string; readonly sha256: string; readonly source: string }[] = [
  { name: '0001-tables', sha256: '74971b2e23f97872f67c4549110147a32470d546284ee25a8b64c866cfdb8f5f', source: `create table sluice_state (
  id uuid primary key,
  unit bigint,
  zero bigint,
  rest bigint,
  seen bigint,
  ends bigint,
  current bigint,
  previous bigint,
  turn bigint,
  absent bigint,
  newest bigint,
  charged bigint,
  head bigint,
  tail bigint,
  hold bigint,
  blocked_until bigint,
  kind smallint
) with (fillfactor = 90);
create table sluice_plan (
  unit bigint primary key,
  n bigint not null,
  m bigint not null,
  burst bigint not null
);
create table sluice_log (
  id uuid,
  seq bigint,
  at bigint not null,
  base bigint not null,
  primary key (id, seq)
) with (fillfactor = 90);
` },
]

export interface SqlFunction {
  readonly name: string
  readonly hash: string
  readonly source: string
}

export const functions: readonly SqlFunction[] = [
  { name: 'whole', hash: 'e64a7210', source: `create function sluice_whole(n bigint, m bigint, micro bigint) returns bigint language sql immutable as $$
  select micro / 1000000 * (m * 1000000 / n) + micro % 1000000 * (m / n)
$$;
` },
  { name: 'parts', hash: 'c12bfc88', source: `create function sluice_parts(n bigint, m bigint, micro bigint) returns bigint language sql immutable as $$
  select micro / 1000000 * (m * 1000000 % n) + micro % 1000000 * (m % n)
$$;
` },
  { name: 'adopt_bucket', hash: 'd686cf2c', source: `create function sluice_adopt_bucket(
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
` },
  { name: 'fresh_at', hash: 'b837a9e3', source: `create function sluice_fresh_at(finish bigint, len bigint, turn bigint) returns bigint language sql immutable as $$
  select finish + case when turn >= 3 then len when turn = 2 then (len + 3) / 4 when turn = 1 then (len + 15) / 16 else (len + 63) / 64 end
$$;
` },
  { name: 'window_adopt', hash: '8c21f994', source: `create function sluice_window_adopt(finish bigint, own bigint, turn bigint, len bigint, align bigint, fresh bigint, now_us bigint)
returns bigint[] language sql immutable as $$
  select case
    when own = len and turn < 5 then array[finish, own, turn]
    when now_us >= finish then case when now_us < sluice_fresh_at(finish, own, turn) then array[finish, own, turn] end
    when turn = 6 then case when len > own then array[finish, len, 4] else array[finish, own, turn] end
    when own = len then array[finish, own, 4]
    when own < len then array[case align when 1 then finish - own + len else greatest(finish, fresh) end, len, 4]
    when turn >= 4 then array[finish, own, turn]
    else array[greatest(finish, fresh), own, 4]
  end
$$;
` },
  { name: 'aligned', hash: '38d12f3d', source: `create function sluice_aligned(len bigint, now_us bigint, shift bigint) returns bigint language sql immutable as $$
  select ((now_us - shift - case when now_us < shift then len - 1 else 0 end) / len + 1) * len + shift
$$;
` },
  { name: 'fresh_end', hash: '88a75811', source: `create function sluice_fresh_end(len bigint, align bigint, phase bigint, now_us bigint) returns bigint language sql immutable as $$
  select case align
    when 1 then now_us + len
    when 0 then sluice_aligned(len, now_us, 0)
    else sluice_aligned(len, now_us, div(phase::numeric * len, 4294967296)::bigint)
  end
$$;
` },
  { name: 'adopt', hash: '8b5434a3', source: `create function sluice_adopt(state bigint[], plan bigint[], plans bigint[], phase bigint, now_us bigint) returns bigint[]
language plpgsql stable as $$
declare
  own bigint := state[1];
  a bigint := state[2];
  b bigint := state[3];
  c bigint := state[4];
  hold bigint := state[5];
  len bigint := plan[4];
  old bigint[];
begin
  if plan[1] = 0 then
    select array[p.n, p.m, p.burst] into strict old from (
      select plans[8 * g - 5] as n, plans[8 * g - 4] as m, plans[8 * g - 3] as burst
        from generate_series(1, cardinality(plans) / 8) g where plans[8 * g - 7] = 0 and plans[8 * g - 6] = own
      union all
      select k.n, k.m, k.burst from sluice_plan k where k.unit = own
    ) p limit 1;
    old := sluice_adopt_bucket(a, b, c, hold, old[1], old[2], old[3], plan[3], plan[4], plan[5], now_us);
    return case when old is not null then plan[2] || old end;
  elsif plan[1] = 1 then
    old := sluice_window_adopt(a, own, hold, len, plan[5], sluice_fresh_end(len, plan[5], phase, now_us), now_us);
    b := case when hold = 6 and old[3] = 4 then 9007199254740991 else b end;
    return case when old is not null then array[old[2], old[1], b, c, old[3]] end;
  elsif plan[1] = 2 then
    if own = len then
      return array[own, a, b, c, case when now_us < a then 0 else hold end];
    end if;
    if own > len and now_us < a then
      return state;
    end if;
    if now_us >= a then
      c := case when now_us < a + own then b else 0 end;
      b := 0;
      a := a + own;
    end if;
    if own > len and hold = 0 then
      return case when c > 0 then array[own, a, b, c, 1] end;
    end if;
    a := a - own + len;
    return case when now_us < a and b + c > 0 then array[len, a, b, c, 0] end;
  end if;
  hold := greatest(own, hold);
  return case when a + hold > now_us then array[len, a, b, c, case when hold > len then hold else 0 end] end;
end $$;
` },
  { name: 'adjust_bucket', hash: 'f8789fed', source: `create function sluice_adjust_bucket(state bigint[], plan bigint[], amount bigint, receipt bigint, now_us bigint) returns bigint[]
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
` },
  { name: 'begun', hash: '9d63eac2', source: `create function sluice_begun(finish bigint, own bigint, turn bigint, len bigint, align bigint, fresh bigint, now_us bigint)
returns bigint[] language sql immutable as $$
  select case
    when now_us >= sluice_fresh_at(finish, own, turn) then array[fresh, len, 0]
    when own < len then array[greatest(fresh, finish + own), len, 4]
    when own > len and turn < 5 then array[finish + own, own, 5]
    when align <> 1 and fresh - len < finish then array[fresh + len, len, 0]
    else array[fresh, len, 0]
  end
$$;
` },
  { name: 'part', hash: '1ff0d601', source: `create function sluice_part(elapsed bigint, len bigint, longer bigint) returns bigint language sql immutable as $$
  select greatest(0, least(elapsed / len, longer / len - 1))
$$;
` },
  { name: 'used', hash: 'a8ecd06a', source: `create function sluice_used(count bigint, part bigint, most bigint) returns bigint language sql immutable as $$
  select case when part > 9007199254740991 / most then 0 else greatest(0, count - part * most) end
$$;
` },
  { name: 'spent', hash: 'c99381c4', source: `create function sluice_spent(turn bigint, part bigint, most bigint) returns boolean language sql immutable as $$
  select turn = 6 or part + 2 > 9007199254740991 / most
$$;
` },
  { name: 'turn', hash: '4ff08b4c', source: `create function sluice_turn(turn bigint, count bigint, most bigint) returns bigint language sql immutable as $$
  select case when turn >= 4 then turn when count * 4 > most then 3 when count * 16 > most then 2 when count * 64 > most then 1 else 0 end
$$;
` },
  { name: 'adjust_window', hash: '5c070d0c', source: `create function sluice_adjust_window(state bigint[], plan bigint[], amount bigint, receipt bigint, phase bigint, now_us bigint) returns bigint[]
language plpgsql immutable as $$
declare
  burst bigint := plan[3];
  len bigint := plan[4];
  fresh bigint := sluice_fresh_end(len, plan[5], phase, now_us);
  own bigint := coalesce(state[1], len);
  finish bigint := coalesce(state[2], fresh);
  count bigint := coalesce(state[3], 0);
  turn bigint := coalesce(state[5], 0);
  begun bigint[];
  part bigint;
  used bigint;
begin
  if now_us >= finish then
    begun := sluice_begun(finish, own, turn, len, plan[5], fresh, now_us);
    finish := begun[1];
    count := 0;
    own := begun[2];
    turn := begun[3];
  end if;
  part := case when turn >= 5 and own > len then sluice_part(now_us - finish + own, len, own) else 0 end;
  used := sluice_used(count, part, burst);
  if turn >= 5 and sluice_spent(turn, part, burst) then
    count := used;
    own := own - part * len;
    turn := 6;
    part := 0;
  end if;
  if amount > 0 then
    if used = 0 or (receipt >= 0 and receipt < finish - own + part * len) then
      return state;
    end if;
    count := count - least(amount, used);
    return case when count > 0 or turn >= 4 then array[own, finish, count, 0, sluice_turn(turn, count, burst)] end;
  end if;
  if used >= 2 * burst then
    return state;
  end if;
  count := part * burst + least(2 * burst, used - amount);
  return array[own, finish, count, 0, sluice_turn(turn, count, burst)];
end $$;
` },
  { name: 'weighted', hash: 'a926b07e', source: `create function sluice_weighted(previous bigint, remaining bigint, quanta bigint) returns bigint language sql immutable as $$
  select previous / 1000000 * remaining / quanta * 1000000
    + (previous / 1000000 * remaining % quanta * 1000000 + previous % 1000000 * remaining + quanta - 1) / quanta
$$;
` },
  { name: 'share', hash: 'f6230745', source: `create function sluice_share(len bigint, own bigint, until_end bigint, previous bigint) returns bigint language plpgsql immutable as $$
declare
  quantum bigint := own;
  quanta bigint;
begin
  if previous = 0 then
    return 0;
  end if;
  if own = 0 then
    quantum := 1;
    while len > 1000000 * quantum loop
      quantum := quantum * 10;
    end loop;
  end if;
  quanta := len / quantum;
  return sluice_weighted(previous, least(quanta, (until_end + quantum - 1) / quantum), quanta);
end $$;
` },
  { name: 'adjust_counter', hash: 'fa432e0b', source: `create function sluice_adjust_counter(state bigint[], plan bigint[], amount bigint, receipt bigint, now_us bigint) returns bigint[]
language plpgsql immutable as $$
declare
  burst bigint := plan[3];
  len bigint := plan[4];
  own bigint := len;
  finish bigint := state[2];
  current bigint := 0;
  previous bigint := 0;
  absent bigint := 0;
  room bigint;
  part bigint;
begin
  if state is null or now_us >= finish + len then
    finish := sluice_aligned(len, now_us, 0);
  elsif now_us >= finish then
    own := state[1];
    finish := finish + len;
    previous := state[3];
  else
    own := state[1];
    current := state[3];
    previous := state[4];
    absent := state[5];
  end if;
  if amount < 0 then
    room := 2 * burst - current - sluice_share(own, case when own = len then plan[5] else 0 end, finish - now_us, previous);
    return case when room > 0 then array[own, finish, current + least(room, -amount), previous, absent] else state end;
  end if;
  if receipt >= 0 and receipt < finish - 2 * own then
    return state;
  end if;
  room := finish - own;
  part := case when receipt >= 0 and receipt < room then 0 else least(current, amount) end;
  current := current - part;
  amount := case when receipt >= room then 0 else least(previous, amount - part) end;
  previous := previous - amount;
  if part + amount = 0 then
    return state;
  end if;
  return case when current + previous > 0 then array[own, finish, current, previous, absent] end;
end $$;
` },
  { name: 'log_after', hash: '6fde1f60', source: `create function sluice_log_after(log uuid, instant bigint, lo bigint, hi bigint) returns bigint language plpgsql stable as $$
declare
  step bigint := 1;
  probe bigint := lo;
  found_at bigint;
begin
  while lo <= hi loop
    select e.at into strict found_at from sluice_log e where e.id = log and e.seq = probe;
    if found_at > instant then
      hi := probe - 1;
      step := 0;
    else
      lo := probe + 1;
      step := step * 2;
    end if;
    probe := case when step = 0 or lo + step > hi then (lo + hi) / 2 else lo + step - 1 end;
  end loop;
  return lo;
end $$;
` },
  { name: 'log_through', hash: 'c2701314', source: `create function sluice_log_through(log uuid, amount bigint, lo bigint, hi bigint) returns bigint language plpgsql stable as $$
declare
  step bigint := 1;
  best bigint := lo;
  probe bigint := lo + 1;
  found_base bigint;
begin
  lo := lo + 1;
  while lo <= hi loop
    select e.base into strict found_base from sluice_log e where e.id = log and e.seq = probe;
    if found_base < amount then
      best := probe;
      lo := probe + 1;
      step := step * 2;
    else
      hi := probe - 1;
      step := 0;
    end if;
    probe := case when step = 0 or lo + step > hi then (lo + hi) / 2 else lo + step - 1 end;
  end loop;
  return best;
end $$;
` },
  { name: 'log_fits', hash: '8670be49', source: `create function sluice_log_fits(
  log uuid, amount bigint, first bigint, tail bigint, newest bigint, kept_tail bigint, kept_total bigint
) returns bigint language plpgsql stable as $$
declare
  found_seq bigint;
begin
  if first >= tail or (tail > kept_tail and amount > kept_total) then
    return newest;
  end if;
  found_seq := sluice_log_through(log, amount, first, least(tail, kept_tail));
  return case when found_seq = tail then newest else (select e.at from sluice_log e where e.id = log and e.seq = found_seq) end;
end $$;
` },
  { name: 'log_decide', hash: 'bfde56e1', source: `create function sluice_log_decide(
  log uuid, now_us bigint, cap bigint, len bigint, cost bigint, newest bigint, total bigint, head bigint, tail bigint,
  hold bigint, kept_tail bigint, kept_total bigint, both_views boolean, taking boolean
) returns bigint[] language plpgsql volatile as $$
declare
  reply bigint[] := array_fill(0::bigint, array[13]);
  now_at bigint := greatest(now_us, newest);
  first bigint;
  from_seq bigint;
  before_first bigint;
  used bigint;
  charge bigint := cost;
  kept bigint;
  merges boolean;
  outcome int;
  counted bigint;
  remaining bigint;
  more bigint;
  reset_after bigint;
begin
  first := case
    when newest is null or newest <= now_at - len then tail + 1
    else sluice_log_after(log, now_at - len, head, least(tail - 1, kept_tail))
  end;
  before_first := case
    when first > tail then total
    when first > kept_tail then kept_total
    else (select e.base from sluice_log e where e.id = log and e.seq = first)
  end;
  used := total - before_first;
  if taking then
    charge := least(cost, 2 * cap - used);
    outcome := case when charge <= 0 then 1 else 0 end;
  else
    outcome := case when cost > cap then 2 when cost > cap - used then 1 else 0 end;
  end if;
  reply[1] := outcome;
  if outcome = 0 then
    from_seq := case
      when hold = 0 then first
      when newest is null or newest <= now_at - hold then tail + 1
      else sluice_log_after(log, now_at - hold, head, least(tail - 1, kept_tail))
    end;
    kept := tail - from_seq + 1;
    merges := kept > 0 and newest = now_at;
    if not merges and kept >= (case when hold > 0 then 10000 else (cap + 999999) / 1000000 end) then
      if from_seq < first then
        from_seq := from_seq + 1;
      else
        merges := true;
      end if;
    end if;
    reply[9] := now_at;
    reply[10] := total + charge;
    reply[11] := from_seq;
    reply[12] := case when merges then tail else tail + 1 end;
    reply[13] := case when kept > 0 then hold else 0 end;
  elsif outcome = 1 and not taking then
    reply[2] := sluice_log_fits(log, total + cost - cap, first, tail, newest, kept_tail, kept_total) + len - now_us;
  end if;
  for view in 0..1 loop
    if taking or (view = 0 and outcome <> 0) or (view = 1 and outcome = 0 and not both_views) then
      continue;
    end if;
    counted := used + case view when 0 then charge else 0 end;
    remaining := greatest(0, cap - counted) / 1000000;
    more := (remaining + 1) * 1000000;
    reset_after := case when counted > 0 then case view when 0 then now_at else newest end + len - now_us else 0 end;
    reply[3 + 3 * view] := remaining;
    reply[4 + 3 * view] := case
      when more > cap then reset_after
      when view = 0 and before_first + counted + more - cap > total then now_at + len - now_us
      else sluice_log_fits(
        log, before_first + counted + more - cap, first, tail, case when view = 0 and merges then now_at else newest end, kept_tail,
        kept_total
      ) + len - now_us
    end;
    reply[5 + 3 * view] := reset_after;
  end loop;
  return reply;
end $$;
` },
  { name: 'log_refund', hash: '7f54098c', source: `create function sluice_log_refund(log uuid, state bigint[], since bigint, amount bigint, receipt bigint) returns bigint[]
language plpgsql volatile as $$
declare
  ats bigint[];
  costs bigint[];
  given bigint := 0;
  i int;
  part bigint;
begin
  if receipt >= 0 and receipt <= since then
    return state;
  end if;
  select array_agg(e.at order by e.seq), array_agg(e.cost order by e.seq) into ats, costs
    from (select l.seq, l.at, lead(l.base, 1, state[3]) over (order by l.seq) - l.base as cost from sluice_log l where l.id = log) e;
  for k in 1..cardinality(ats) loop
    i := case when receipt < 0 then cardinality(ats) + 1 - k else k end;
    continue when ats[i] <= since or ats[i] < receipt;
    part := least(amount - given, costs[i]);
    costs[i] := costs[i] - part;
    given := given + part;
  end loop;
  if given = 0 then
    return state;
  end if;
  delete from sluice_log l where l.id = log;
  insert into sluice_log (id, seq, at, base)
    select log, row_number() over (order by e.place), e.at, coalesce(sum(e.cost) over (order by e.place rows between unbounded preceding and 1 preceding), 0)
    from unnest(ats, costs) with ordinality as e (at, cost, place) where e.cost > 0;
  return (
    select case when count(*) > 0 then array[state[1], max(e.at), sum(e.cost), 1, state[5], count(*)]::bigint[] end
    from unnest(ats, costs) as e (at, cost) where e.cost > 0
  );
end $$;
` },
  { name: 'adjust_log', hash: 'd2e3c634', source: `create function sluice_adjust_log(
  log uuid, state bigint[], charged bigint, head bigint, tail bigint, plan bigint[], amount bigint, receipt bigint, now_us bigint
) returns bigint[] language plpgsql volatile as $$
declare
  looked bigint[];
begin
  if amount < 0 then
    looked := sluice_log_decide(
      log, now_us, plan[3], plan[4], -amount, state[2], charged, head, tail, coalesce(state[5], 0), tail, charged, false, true
    );
    if looked[1] = 0 then
      return array[plan[2], looked[9], looked[10], looked[11], looked[13], looked[12]];
    end if;
  elsif state is not null then
    return sluice_log_refund(log, state || tail, greatest(now_us, state[2]) - plan[4], amount, receipt);
  end if;
  return case when state is not null then state || tail end;
end $$;
` },
  { name: 'write', hash: 'a68b6e1e', source: `create function sluice_write(which uuid, stored boolean, of_kind int, of_unit bigint, a bigint, b bigint, c bigint, d bigint, held bigint)
returns boolean language plpgsql volatile as $$
declare
  bucket boolean := of_kind = 0;
  counted boolean := of_kind in (1, 2);
  logged boolean := of_kind = 3;
begin
  if stored then
    update sluice_state t set
      kind = of_kind, unit = of_unit,
      zero = case when bucket then a end, rest = case when bucket then nullif(b, 0) end, seen = case when bucket then nullif(c, 0) end,
      ends = case when counted then a end, current = case when counted then nullif(b, 0) end,
      previous = case when of_kind = 2 then nullif(c, 0) end, turn = case when of_kind = 1 then nullif(held, 0) end,
      absent = case when of_kind = 2 then nullif(held, 0) end,
      newest = case when logged then a end, charged = case when logged then nullif(b, 0) end, head = case when logged then nullif(c, 0) end,
      tail = case when logged then nullif(d, 0) end, hold = case when bucket or logged then nullif(held, 0) end
    where t.id = which;
    return true;
  end if;
  insert into sluice_state (id, kind, unit, zero, rest, seen, ends, current, previous, turn, absent, newest, charged, head, tail, hold)
  values (
    which, of_kind, of_unit, case when bucket then a end, case when bucket then nullif(b, 0) end, case when bucket then nullif(c, 0) end,
    case when counted then a end, case when counted then nullif(b, 0) end, case when of_kind = 2 then nullif(c, 0) end,
    case when of_kind = 1 then nullif(held, 0) end, case when of_kind = 2 then nullif(held, 0) end,
    case when logged then a end, case when logged then nullif(b, 0) end, case when logged then nullif(c, 0) end,
    case when logged then nullif(d, 0) end, case when bucket or logged then nullif(held, 0) end
  )
  on conflict (id) do nothing;
  return found;
end $$;
` },
  { name: 'forget', hash: '8cd74409', source: `create function sluice_forget(which uuid) returns void language plpgsql volatile as $$
begin
  delete from sluice_state t where t.id = which and t.blocked_until is null;
  if not found then
    perform sluice_write(which, true, null, null, null, null, null, null, null);
  end if;
  delete from sluice_log e where e.id = which;
end $$;
` },
  { name: 'log_write', hash: '32d3020a', source: `create function sluice_log_write(
  log uuid, newest bigint, head bigint, tail bigint, old_newest bigint, old_total bigint, old_head bigint, old_tail bigint
) returns void language plpgsql volatile as $$
begin
  if tail > old_tail then
    insert into sluice_log (id, seq, at, base) values (log, tail, newest, old_total);
  elsif newest <> old_newest then
    update sluice_log e set at = newest where e.id = log and e.seq = tail;
  end if;
  if head > old_head then
    delete from sluice_log e where e.id = log and e.seq >= old_head and e.seq < head;
  end if;
end $$;
` },
  { name: 'adjust', hash: 'db0674c1', source: `create function sluice_adjust(given bigint, receipt bigint, ids uuid[], plans bigint[], calls bigint[])
returns void language plpgsql volatile as $$
declare
  now_us bigint;
  plan bigint[];
  amount bigint;
  stored boolean;
  t record;
  state bigint[];
begin
  for i in 1..cardinality(ids) loop
    amount := calls[2 * i - 1];
    plan := plans[8 * i - 7:8 * i];
    loop
      select r.kind, r.unit, coalesce(r.zero, r.ends, r.newest) as a, coalesce(r.rest, r.current, r.charged, 0) as b,
          coalesce(r.seen, r.previous, r.head, 0) as c, coalesce(r.tail, 0) as d, coalesce(r.hold, r.turn, r.absent, 0) as hold
        into t from sluice_state r where r.id = ids[i] for update;
      stored := found;
      if t.kind <> plan[1] then
        raise exception 'a state is of kind %, where % is known', t.kind, plan[1] using errcode = 'SL002';
      end if;
      now_us := case when given = 0 then (extract(epoch from clock_timestamp()) * 1000000)::bigint else given end;
      state := case when t.unit is not null then array[t.unit, t.a, t.b, t.c, t.hold] end;
      if t.unit <> plan[2] or (t.unit is not null and plan[1] = 1) or (plan[1] = 2 and t.hold = 1) then
        state := sluice_adopt(state, plan, '{}', calls[2 * i], now_us);
      end if;
      if plan[1] = 0 then
        state := sluice_adjust_bucket(state, plan, amount, receipt, now_us);
      elsif plan[1] = 1 then
        state := sluice_adjust_window(state, plan, amount, receipt, calls[2 * i], now_us);
      elsif plan[1] = 2 then
        state := sluice_adjust_counter(state, plan, amount, receipt, now_us);
      else
        state := sluice_adjust_log(ids[i], state, coalesce(t.b, 0), coalesce(t.c, 0), coalesce(t.d, 0), plan, amount, receipt, now_us);
      end if;
      if state is null then
        if stored then
          perform sluice_forget(ids[i]);
        end if;
        exit;
      end if;
      if plan[1] = 0 and state[1] is distinct from t.unit then
        insert into sluice_plan (unit, n, m, burst) values (plan[2], plan[3], plan[4], plan[5]) on conflict do nothing;
      end if;
      continue when not sluice_write(ids[i], stored, plan[1]::int, state[1], state[2], state[3], state[4], state[6], state[5]);
      if plan[1] = 3 and amount < 0 then
        perform sluice_log_write(ids[i], state[2], state[4], state[6], coalesce(t.a, 0), coalesce(t.b, 0), coalesce(t.c, 0), coalesce(t.d, 0));
      end if;
      exit;
    end loop;
  end loop;
end $$;
` },
  { name: 'block', hash: '7f855d65', source: `create function sluice_block(given bigint, duration bigint, ids uuid[]) returns void language plpgsql volatile as $$
declare
  which uuid;
begin
  foreach which in array ids loop
    perform from sluice_state t where t.id = which for update;
    if duration < 0 then
      delete from sluice_state t where t.id = which and t.unit is null;
      update sluice_state t set blocked_until = null where t.id = which and t.blocked_until is not null;
    else
      insert into sluice_state as t (id, blocked_until)
        values (which, duration + case when given = 0 then (extract(epoch from clock_timestamp()) * 1000000)::bigint else given end)
        on conflict (id) do update set blocked_until = excluded.blocked_until;
    end if;
  end loop;
end $$;
` },
  { name: 'consume', hash: '1717d6a6', source: `create function sluice_consume(
  given bigint, charging boolean, waiting int, ids uuid[], firsts int[], sizes int[], plans bigint[], calls bigint[]
) returns bigint[] language plpgsql volatile as $$
declare
  many int := cardinality(ids);
  kind_of int[] := array_fill(null::int, array[many]);
  unit_of bigint[] := array_fill(null::bigint, array[many]);
  a_of bigint[] := unit_of;
  row_of record;
  b_of bigint[] := array_fill(0::bigint, array[many]);
  c_of bigint[] := b_of;
  d_of bigint[] := b_of;
  hold_of bigint[] := b_of;
  until_of bigint[] := b_of;
  kinds int[];
  places int[];
  units bigint[];
  as_found bigint[];
  bs_found bigint[];
  cs_found bigint[];
  ds_found bigint[];
  holds bigint[];
  untils bigint[];
  old_unit bigint[];
  old_a bigint[];
  old_b bigint[];
  old_c bigint[];
  old_d bigint[];
  stored boolean[] := array_fill(false, array[many]);
  changed boolean[] := stored;
  placed boolean := false;
  known boolean[] := array_fill(false, array[cardinality(plans) / 8]);
  reply bigint[] := array_fill(0::bigint, array[1 + cardinality(sizes) + 6 * many]);
  foreign_plans bigint[] := '{}';
  told bigint[] := '{}';
  next_of bigint[];
  now_us bigint := given;
  head int := 0;
  answer int := 1;
  place int;
  size int;
  outcome int;
  step int;
  slot int;
  cost bigint;
  plan int := 0;
  wanted int;
  kind int;
  own_unit bigint;
  n bigint; m bigint; burst bigint;
  token_us bigint; token_parts bigint; micro_us bigint; micro_parts bigint; empty_us bigint; empty_parts bigint;
  len bigint; align bigint; ramp bigint; quantum bigint;
  unit bigint; a bigint; b bigint; c bigint; d bigint; hold bigint;
  at bigint; zero bigint; rest bigint; room bigint; base bigint;
  looked bigint[];
  stands boolean;
begin
  if charging and many > 1 and waiting in (1, 3) then
    if waiting = 1 then
      select array_agg(x.place), array_agg(k.kind), array_agg(k.unit), array_agg(k.a), array_agg(k.b), array_agg(k.c), array_agg(k.d),
          array_agg(k.hold), array_agg(k.until)
        into places, kinds, units, as_found, bs_found, cs_found, ds_found, holds, untils
        from unnest(ids) with ordinality as x (id, place) cross join lateral (
          select t.kind, t.unit, coalesce(t.zero, t.ends, t.newest) as a, coalesce(t.rest, t.current, t.charged, 0) as b,
            coalesce(t.seen, t.previous, t.head, 0) as c, coalesce(t.tail, 0) as d, coalesce(t.hold, t.turn, t.absent, 0) as hold,
            coalesce(t.blocked_until, 0) as until
          from sluice_state t where t.id = x.id for update
        ) k;
    else
      select array_agg(x.place), array_agg(k.kind), array_agg(k.unit), array_agg(k.a), array_agg(k.b), array_agg(k.c), array_agg(k.d),
          array_agg(k.hold), array_agg(k.until)
        into places, kinds, units, as_found, bs_found, cs_found, ds_found, holds, untils
        from unnest(ids) with ordinality as x (id, place) cross join lateral (
          select t.kind, t.unit, coalesce(t.zero, t.ends, t.newest) as a, coalesce(t.rest, t.current, t.charged, 0) as b,
            coalesce(t.seen, t.previous, t.head, 0) as c, coalesce(t.tail, 0) as d, coalesce(t.hold, t.turn, t.absent, 0) as hold,
            coalesce(t.blocked_until, 0) as until
          from sluice_state t where t.id = x.id for update skip locked
        ) k;
    end if;
    for i in 1..coalesce(cardinality(places), 0) loop
      place := places[i];
      stored[place] := true;
      kind_of[place] := kinds[i];
      unit_of[place] := units[i];
      a_of[place] := as_found[i];
      b_of[place] := bs_found[i];
      c_of[place] := cs_found[i];
      d_of[place] := ds_found[i];
      hold_of[place] := holds[i];
      until_of[place] := untils[i];
    end loop;
  else
    for i in 1..many loop
      loop
        if not charging then
          select t.kind, t.unit, coalesce(t.zero, t.ends, t.newest) as a, coalesce(t.rest, t.current, t.charged) as b,
              coalesce(t.seen, t.previous, t.head) as c, t.tail as d, coalesce(t.hold, t.turn, t.absent) as hold, t.blocked_until as until
            into row_of from sluice_state t where t.id = ids[i];
        else
          select t.kind, t.unit, coalesce(t.zero, t.ends, t.newest) as a, coalesce(t.rest, t.current, t.charged) as b,
              coalesce(t.seen, t.previous, t.head) as c, t.tail as d, coalesce(t.hold, t.turn, t.absent) as hold, t.blocked_until as until
            into row_of from sluice_state t where t.id = ids[i] for update;
        end if;
        stored[i] := found;
        exit when found or not charging or waiting < 2;
        insert into sluice_state (id) values (ids[i]) on conflict (id) do nothing;
        stored[i] := found;
        placed := placed or found;
        exit when found;
      end loop;
      kind_of[i] := row_of.kind;
      unit_of[i] := row_of.unit;
      a_of[i] := row_of.a;
      b_of[i] := coalesce(row_of.b, 0);
      c_of[i] := coalesce(row_of.c, 0);
      d_of[i] := coalesce(row_of.d, 0);
      hold_of[i] := coalesce(row_of.hold, 0);
      until_of[i] := coalesce(row_of.until, 0);
    end loop;
  end if;
  if given = 0 then
    now_us := (extract(epoch from clock_timestamp()) * 1000000)::bigint;
  end if;
  reply[1] := now_us;
  place := 1 + cardinality(sizes);
  for i in 1..many loop
    unit := unit_of[i];
    if unit is not null then
      wanted := 8 * firsts[i] - 6;
      kind := plans[wanted - 1];
      if kind_of[i] <> kind then
        raise exception 'a state is of kind %, where % is known', kind_of[i], kind using errcode = 'SL002';
      end if;
      if kind > 0 then
        reply[place + 2] := unit;
      elsif unit = plans[wanted] then
        reply[place + 2] := firsts[i];
      else
        select array[p.n, p.m, p.burst] into strict looked from sluice_plan p where p.unit = unit_of[i];
        foreign_plans := foreign_plans || looked;
        reply[place + 2] := -cardinality(foreign_plans) / 3;
      end if;
      reply[place + 3] := a_of[i];
      reply[place + 4] := b_of[i];
      reply[place + 5] := c_of[i];
      reply[place + 6] := hold_of[i];
    end if;
    reply[place + 1] := until_of[i];
    place := place + 6;
  end loop;
  old_unit := unit_of;
  old_a := a_of;
  old_b := b_of;
  old_c := c_of;
  old_d := d_of;
  foreach size in array sizes loop
    outcome := 0;
    next_of := '{}';
    for j in 0..size - 1 loop
      place := head + 4 * j;
      slot := calls[place + 1];
      cost := calls[place + 2];
      wanted := calls[place + 3];
      for k in 0..j - 1 loop
        if calls[head + 4 * k + 1] = slot then
          cost := cost + calls[head + 4 * k + 2];
        end if;
      end loop;
      if wanted <> plan then
        plan := wanted;
        wanted := 8 * plan - 7;
        kind := plans[wanted];
        own_unit := plans[wanted + 1];
        if kind = 0 then
          n := plans[wanted + 2];
          m := plans[wanted + 3];
          burst := plans[wanted + 4];
          token_us := m * 1000000 / n;
          token_parts := m * 1000000 % n;
          micro_us := m / n;
          micro_parts := m % n;
          room := sluice_parts(n, m, burst);
          empty_us := sluice_whole(n, m, burst) + (room + n - 1) / n;
          empty_parts := (n - room % n) % n;
        else
          burst := plans[wanted + 2];
          len := plans[wanted + 3];
          align := plans[wanted + 4];
          quantum := align;
          ramp := plans[wanted + 5];
          n := plans[wanted + 6];
          m := plans[wanted + 7];
        end if;
      end if;
      unit := unit_of[slot];
      a := a_of[slot];
      b := b_of[slot];
      c := c_of[slot];
      hold := hold_of[slot];
      if unit <> own_unit or (kind = 1 and hold = 5) or (kind = 2 and hold = 1) then
        looked := sluice_adopt(array[unit, a, b, c, hold], plans[8 * plan - 7:8 * plan], plans, calls[place + 4], now_us);
        if looked is null then
          unit := null;
        elsif looked <> array[unit, a, b, c, hold] then
          unit := looked[1];
          a := looked[2];
          b := looked[3];
          c := looked[4];
          hold := looked[5];
          unit_of[slot] := unit;
          a_of[slot] := a;
          b_of[slot] := b;
          c_of[slot] := c;
          hold_of[slot] := hold;
          changed[slot] := true;
        end if;
      end if;
      if kind = 0 then
        if unit is null then
          at := now_us;
          zero := at - empty_us;
          rest := empty_parts;
          hold := 0;
        else
          at := greatest(now_us, c);
          zero := at - empty_us;
          rest := empty_parts;
          if a > zero or (a = zero and b > rest) then
            zero := a;
            rest := b;
          elsif hold > 0 and at >= c + hold then
            hold := 0;
          end if;
        end if;
        if cost > burst then
          step := 2;
        else
          rest := rest + cost / 1000000 * token_parts + cost % 1000000 * micro_parts;
          zero := zero + cost / 1000000 * token_us + cost % 1000000 * micro_us + rest / n;
          rest := rest % n;
          step := case when zero > at or (zero = at and rest > 0) then 1 else 0 end;
          a := zero;
          b := rest;
          c := at;
          unit := own_unit;
        end if;
      elsif kind = 3 then
        d := d_of[slot];
        if unit is null then
          a := null;
        end if;
        stands := not charging or until_of[slot] > now_us;
        looked := sluice_log_decide(
          ids[slot], now_us, burst, len, cost, a, b, c, d, hold, old_d[slot], old_b[slot], size > 1 or stands, false
        );
        step := looked[1];
        told := told || looked[1:2] || case when step = 0 and not stands then looked[3:5] else looked[6:8] end;
        if size > 1 and step = 0 then
          next_of := next_of || array[-cardinality(told)::bigint] || looked[6:8];
        end if;
        if step = 0 then
          a := looked[9];
          b := looked[10];
          c := looked[11];
          d := looked[12];
          hold := looked[13];
          unit := own_unit;
        end if;
      else
        if kind = 1 then
          if unit is null or now_us >= a then
            at := sluice_fresh_end(len, align, calls[place + 4], now_us);
            looked := array[at, len, 0];
            if unit is not null then
              looked := sluice_begun(a, unit, hold, len, align, at, now_us);
            end if;
            unit := looked[2];
            a := looked[1];
            b := 0;
            hold := looked[3];
          end if;
          room := burst;
          base := 0;
          at := now_us - a + unit;
          if hold >= 5 and unit > own_unit then
            base := sluice_part(at, len, unit);
            at := at - base * len;
            if sluice_spent(hold, base, burst) then
              b := sluice_used(b, base, burst);
              unit := unit - base * len;
              base := 0;
              hold := 6;
            else
              base := base * burst;
            end if;
          end if;
          if ramp > 0 and at < ramp then
            room := least(burst, greatest(1000000, greatest(0, at) * n / m));
          end if;
          b := greatest(base, b);
          room := room + base - b;
          hold := sluice_turn(hold, b + cost, burst);
        else
          if unit is null or now_us >= a + len then
            unit := own_unit;
            a := sluice_aligned(len, now_us, 0);
            b := 0;
            c := 0;
            hold := 0;
          elsif now_us >= a then
            c := b;
            b := 0;
            a := a + len;
            hold := 0;
          end if;
          room := burst - b;
          if c > 0 then
            room := room - sluice_share(unit, case when unit = own_unit then quantum else 0 end, a - now_us, c);
          end if;
        end if;
        step := case when cost > burst then 2 when cost > room then 1 else 0 end;
        b := b + cost;
      end if;
      outcome := greatest(outcome, step, case when until_of[slot] > now_us then 1 else 0 end);
      if outcome = 0 then
        if size = 1 then
          unit_of[slot] := unit;
          a_of[slot] := a;
          b_of[slot] := b;
          c_of[slot] := c;
          d_of[slot] := d;
          hold_of[slot] := hold;
          changed[slot] := true;
        else
          next_of := next_of || array[slot, unit, a, b, c, d, hold];
        end if;
      end if;
    end loop;
    answer := answer + 1;
    reply[answer] := outcome;
    if size > 1 then
      place := 1;
      while place <= cardinality(next_of) loop
        slot := next_of[place];
        if slot < 0 then
          if outcome > 0 then
            told[-slot - 2:-slot] := next_of[place + 1:place + 3];
          end if;
          place := place + 4;
        else
          if outcome = 0 then
            unit_of[slot] := next_of[place + 1];
            a_of[slot] := next_of[place + 2];
            b_of[slot] := next_of[place + 3];
            c_of[slot] := next_of[place + 4];
            d_of[slot] := next_of[place + 5];
            hold_of[slot] := next_of[place + 6];
            changed[slot] := true;
          end if;
          place := place + 7;
        end if;
      end loop;
    end if;
    head := head + 4 * size;
  end loop;
  if charging then
    for i in 1..many loop
      continue when not changed[i] or (stored[i] and unit_of[i] = old_unit[i]);
      kind := plans[8 * firsts[i] - 7];
      for p in 1..cardinality(known) loop
        if kind = 0 and plans[8 * p - 6] = unit_of[i] and plans[8 * p - 7] = 0 and not known[p] then
          insert into sluice_plan (unit, n, m, burst) values (unit_of[i], plans[8 * p - 5], plans[8 * p - 4], plans[8 * p - 3])
            on conflict do nothing;
          known[p] := true;
        end if;
      end loop;
      continue when stored[i];
      if not sluice_write(ids[i], false, kind, unit_of[i], a_of[i], b_of[i], c_of[i], d_of[i], hold_of[i]) then
        for k in 1..i - 1 loop
          if changed[k] and not stored[k] then
            delete from sluice_state t where t.id = ids[k];
          end if;
        end loop;
        return null;
      end if;
    end loop;
    for i in 1..many loop
      continue when not changed[i];
      kind := plans[8 * firsts[i] - 7];
      if stored[i] then
        perform sluice_write(ids[i], true, kind, unit_of[i], a_of[i], b_of[i], c_of[i], d_of[i], hold_of[i]);
      end if;
      if kind = 3 then
        perform sluice_log_write(ids[i], a_of[i], c_of[i], d_of[i], coalesce(old_a[i], 0), old_b[i], old_c[i], old_d[i]);
      end if;
    end loop;
    if placed then
      delete from sluice_state t where t.id = any(ids) and t.unit is null and t.blocked_until is null;
    end if;
  end if;
  return reply || told || foreign_plans;
end $$;
` },
  { name: 'bucket', hash: 'bee67802', source: `create function sluice_bucket(
  given bigint, waiting int, times int, which uuid, own_unit bigint, n bigint, m bigint, burst bigint, cost bigint, spent_us bigint, spent_parts bigint,
  empty_us bigint, empty_parts bigint
) returns text language plpgsql volatile as $$
declare
  s record;
  now_us bigint;
  at bigint;
  empty_at bigint;
  parts bigint;
  next_at bigint;
  next_parts bigint;
  passed int := 0;
begin
  select t.kind, t.unit, t.zero, coalesce(t.rest, 0) as rest, t.seen, t.hold, t.blocked_until into s from sluice_state t where t.id = which for update;
  if s.unit is distinct from own_unit or s.kind <> 0 or s.blocked_until is not null or s.hold is not null or cost > burst then
    return sluice_consume(
      given, true, waiting, array[which], array[1], array_fill(1, array[times]), array[0, own_unit, n, m, burst, 0, 0, 0],
      ('{' || rtrim(repeat(format('1,%s,1,0,', cost), times), ',') || '}')::bigint[]
    )::text;
  end if;
  now_us := case when given = 0 then (extract(epoch from clock_timestamp()) * 1000000)::bigint else given end;
  at := greatest(now_us, s.seen);
  empty_at := at - empty_us;
  parts := empty_parts;
  if s.zero > empty_at or (s.zero = empty_at and s.rest > parts) then
    empty_at := s.zero;
    parts := s.rest;
  end if;
  while passed < times loop
    next_parts := parts + spent_parts;
    next_at := empty_at + spent_us + next_parts / n;
    next_parts := next_parts % n;
    exit when next_at > at or (next_at = at and next_parts > 0);
    empty_at := next_at;
    parts := next_parts;
    passed := passed + 1;
  end loop;
  if passed > 0 then
    update sluice_state t set zero = empty_at, rest = nullif(parts, 0), seen = at where t.id = which;
  end if;
  return format('{%s,%s0,1,%s,%s,%s,0}', now_us, repeat('0,', passed) || repeat('1,', times - passed), s.zero, s.rest, s.seen);
end $$;
` },
  { name: 'buckets', hash: 'b4fa6dfc', source: `create function sluice_buckets(
  given bigint, waiting int, ids uuid[], own_unit bigint, n bigint, m bigint, burst bigint, cost bigint, spent_us bigint, spent_parts bigint,
  empty_us bigint, empty_parts bigint
) returns text language plpgsql volatile set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  many int := cardinality(ids);
  plain int;
  locked boolean := false;
  lies_at tid[];
  a_of bigint[];
  b_of bigint[];
  c_of bigint[];
  now_us bigint;
  passed int;
  written int;
  reply text;
begin
  if waiting < 2 and cost <= burst then
    select count(*) filter (where k.unit = own_unit and k.kind = 0 and k.blocked_until is null and k.hold is null),
        array_agg(k.lies_at), array_agg(k.zero), array_agg(coalesce(k.rest, 0)), array_agg(k.seen)
      into plain, lies_at, a_of, b_of, c_of
      from unnest(ids) as x (id) cross join lateral (
        select t.ctid as lies_at, t.kind, t.unit, t.zero, t.rest, t.seen, t.hold, t.blocked_until from sluice_state t where t.id = x.id for update
      ) k;
    locked := true;
  end if;
  if plain is distinct from many then
    return sluice_consume(
      given, true, case when locked then 3 else waiting end, ids, array_fill(1, array[many]), array_fill(1, array[many]),
      array[0, own_unit, n, m, burst, 0, 0, 0],
      (select array_agg(v order by i, p) from generate_series(1, many) i, unnest(array[i, cost, 1, 0]) with ordinality as u (v, p))
    )::text;
  end if;
  now_us := case when given = 0 then (extract(epoch from clock_timestamp()) * 1000000)::bigint else given end;
  with found as (
    select x.*, greatest(now_us, x.c) as at, greatest(now_us, x.c) - empty_us as floor
      from unnest(ids, lies_at, a_of, b_of, c_of) with ordinality as x (id, lies_at, a, b, c, nth)
  ), level as (
    select f.*, f.a > f.floor or (f.a = f.floor and f.b > empty_parts) as partly from found f
  ), charged as (
    select l.*, (case when l.partly then l.b else empty_parts end) + spent_parts as parts,
        (case when l.partly then l.a else l.floor end) + spent_us as whole
      from level l
  ), decided as materialized (
    select c.*, c.whole + c.parts / n as zero, c.parts % n as rest,
        c.whole + c.parts / n < c.at or (c.whole + c.parts / n = c.at and c.parts % n = 0) as passes
      from charged c
  ), wrote as (
    update sluice_state t set zero = d.zero, rest = nullif(d.rest, 0), seen = d.at from decided d
      where t.ctid = d.lies_at and t.id = d.id and d.passes returning 1
  )
  select count(*) filter (where d.passes), (select count(*) from wrote),
      '{' || now_us || ',' || string_agg(case when d.passes then '0' else '1' end, ',' order by d.nth)
        || string_agg(',0,1,' || d.a || ',' || d.b || ',' || d.c || ',0', '' order by d.nth) || '}'
    into passed, written, reply from decided d;
  if written <> passed then
    raise exception 'sluice: % rows of % were not where they had been locked', passed - written, passed using errcode = '40001';
  end if;
  return reply;
end $$;
` },
  { name: 'fresh', hash: 'd91102d2', source: `create function sluice_fresh(
  kind int, unit bigint, zero bigint, rest bigint, seen bigint, ends bigint, current bigint, turn bigint, newest bigint, hold bigint,
  blocked_until bigint, n bigint, m bigint, burst bigint
) returns bigint language sql immutable as $$
  select greatest(blocked_until, case kind
    when 0 then greatest(
      zero + sluice_whole(n, m, burst) + (coalesce(rest, 0) + sluice_parts(n, m, burst) + n - 1) / n, seen + coalesce(hold, 0)
    )
    when 1 then sluice_fresh_at(ends, unit, coalesce(turn, 0))
    when 2 then ends + case when current > 0 then unit else 0 end
    when 3 then newest + greatest(unit, hold)
  end)
$$;
` },
  { name: 'name_part', hash: '87befab5', source: `create function sluice_name_part(given text, plain text) returns text language sql immutable as $$
  select coalesce(string_agg(case
    when c.letter ~ ('^' || plain || '$') then c.letter
    when ascii(c.letter) < 65536 then '%' || lpad(to_hex(ascii(c.letter)), 4, '0')
    else '%' || to_hex(55296 + (ascii(c.letter) - 65536) / 1024) || '%' || to_hex(56320 + (ascii(c.letter) - 65536) % 1024)
  end, '' order by c.place), '')
  from regexp_split_to_table(given, '') with ordinality as c (letter, place)
$$;
` },
  { name: 'reset', hash: '3ee91227', source: `create function sluice_reset(ids uuid[]) returns void language plpgsql volatile as $$
declare
  which uuid;
begin
  foreach which in array ids loop
    perform from sluice_state t where t.id = which for update;
    if found then
      perform sluice_forget(which);
    end if;
  end loop;
end $$;
` },
  { name: 'sweep', hash: '3037849e', source: `create function sluice_sweep(first_page bigint, pages bigint) returns bigint[] language plpgsql volatile as $$
declare
  now_us bigint := (extract(epoch from clock_timestamp()) * 1000000)::bigint;
  gone uuid[];
begin
  with late as (
    select t.id from sluice_state t left join sluice_plan p on p.unit = t.unit
    where t.ctid >= format('(%s,0)', first_page)::tid and t.ctid < format('(%s,0)', first_page + pages)::tid
      and (t.kind > 0 or t.kind is null or p.unit is not null)
      and sluice_fresh(
        t.kind, t.unit, t.zero, t.rest, t.seen, t.ends, t.current, t.turn, t.newest, t.hold, t.blocked_until, p.n, p.m, p.burst
      ) <= now_us
    for update of t skip locked
  ), swept as (
    delete from sluice_state t using late where t.id = late.id returning t.id, t.unit
  )
  select array_agg(swept.id) into gone from swept;
  delete from sluice_log e where e.id = any(gone);
  return array[
    coalesce(cardinality(gone), 0),
    case when (first_page + pages) * current_setting('block_size')::bigint < pg_relation_size('sluice_state') then 1 else 0 end
  ];
end $$;
` },
]

export const articleProgram: string = `create table if not exists rate_limiting_token_bucket (
  id text primary key,
  tk bigint not null,
  ts timestamptz not null
);
alter table rate_limiting_token_bucket add column if not exists part int not null default 0;
create or replace function rate_limiting_token_bucket_request(
  rate_id text, refill_per_sec int default 2, window_seconds int default 60
) returns int language plpgsql volatile as $$
declare
  capacity bigint := refill_per_sec::bigint * window_seconds;
  bucket record;
  at timestamptz;
  elapsed bigint;
  level numeric;
begin
  if capacity < 1 or refill_per_sec < 1 then
    return -1;
  end if;
  loop
    select b.tk, b.part, b.ts into bucket from rate_limiting_token_bucket b where b.id = rate_id for update;
    exit when found;
    insert into rate_limiting_token_bucket (id, tk, ts) values (rate_id, capacity - 1, clock_timestamp()) on conflict (id) do nothing;
    if found then
      return least(capacity - 1, 2147483647);
    end if;
  end loop;
  at := greatest(clock_timestamp(), bucket.ts);
  elapsed := (extract(epoch from at - bucket.ts) * 1000000)::bigint;
  level := least(capacity * 1000000::numeric, greatest(bucket.tk, 0) * 1000000::numeric + bucket.part + elapsed::numeric * refill_per_sec);
  if level < 1000000 then
    return -1;
  end if;
  level := level - 1000000;
  update rate_limiting_token_bucket b set tk = div(level, 1000000), part = level % 1000000, ts = at where b.id = rate_id;
  return least(div(level, 1000000), 2147483647);
end $$;
`

export const checkProgram: string = `create or replace function sluice_check(
  limiter text, limit_name text, key text, tokens bigint, period interval, burst bigint, cost numeric default 1
) returns table (outcome text, remaining bigint, retry_after_ms bigint) language plpgsql volatile as $$
declare
  micros bigint := round(extract(epoch from period) * 1000000);
  divisor bigint;
  n bigint;
  m bigint;
  amount bigint := round(cost * 1000000);
  state_name text;
  which uuid;
  own_unit bigint;
  reply bigint[];
  s record;
  at bigint;
begin
  if limiter is null or limit_name is null or coalesce(key, '') = '' then
    raise exception 'sluice_check: limiter, limit_name and key are texts, and a key is not empty' using errcode = '22023';
  end if;
  if tokens is null or tokens < 1 or tokens > 9007199254 or burst is null or burst < 1 or burst > 9007199254 or micros is null or micros < 1 then
    raise exception 'sluice_check: tokens % in % with burst %: expected 1 to 9007199254 tokens, and a period above 0', tokens, period, burst
      using errcode = '22023';
  end if;
  if micros::numeric * burst / tokens > 3155760000000000 then
    raise exception 'sluice_check: tokens % in % with burst %: a bucket fills within a hundred years', tokens, period, burst using errcode = '22023';
  end if;
  if amount is null or amount < 1 or amount <> cost * 1000000 then
    raise exception 'sluice_check: cost is %: expected a number above 0 with up to six decimals', cost using errcode = '22023';
  end if;
  divisor := gcd(micros, tokens * 1000000);
  n := tokens * 1000000 / divisor;
  m := micros / divisor;
  state_name := sluice_name_part(limiter, '[A-Za-z0-9_.@+=,;~!/-]') || ':' || sluice_name_part(limit_name, '[A-Za-z0-9_.@+=,;~!/-]') || ':tb:';
  key := sluice_name_part(key, '[A-Za-z0-9_.@+=,;~!/:-]');
  if length(key) > 200 then
    key := '#' || encode(sha256(convert_to(key, 'UTF8')), 'hex');
  end if;
  which := left(encode(sha256(convert_to(state_name || key, 'UTF8')), 'hex'), 32)::uuid;
  own_unit := ('x0' || left(encode(sha256(convert_to(n || ' ' || m || ' ' || burst * 1000000, 'UTF8')), 'hex'), 15))::bit(64)::bigint;
  while reply is null loop
    reply := sluice_consume(
      0, true, 1, array[which], array[1], array[1], array[0, own_unit, n, m, burst * 1000000, 0, 0, 0], array[1, least(amount, burst * 1000000 + 1), 1, 0]
    );
  end loop;
  outcome := (array['allowed', 'denied', 'impossible'])[reply[2] + 1];
  select t.zero, coalesce(t.rest, 0) as rest, t.seen, t.unit, t.blocked_until into s from sluice_state t where t.id = which;
  at := greatest(reply[1], s.seen);
  remaining := case
    when s.blocked_until > reply[1] then 0
    when s.unit is null then burst
    else greatest(0, least(burst, div(div((at - s.zero)::numeric * n - s.rest, m), 1000000)))
  end;
  if outcome = 'denied' then
    retry_after_ms := greatest(
      s.blocked_until - reply[1],
      s.zero + sluice_whole(n, m, amount) + (s.rest + sluice_parts(n, m, amount) + n - 1) / n - reply[1]
    );
    retry_after_ms := (retry_after_ms + 999) / 1000;
  end if;
  return next;
end $$;
`
