// Made from the programs beside this file by `npm run generate`; edit those, not this.

export const migrations: readonly { readonly name: string; readonly sha256: string; readonly source: string }[] = [
  { name: '0001-token-bucket', sha256: '236a7830704c675405d08e7c56cecdd9c9cdddaffb815dbf177b78868cba421b', source: `create table sluice_tb (
  id text collate "C" primary key,
  zero bigint not null,
  rest bigint not null,
  seen bigint not null,
  hold bigint not null,
  n bigint not null,
  m bigint not null,
  burst bigint not null,
  until bigint not null
) with (fillfactor = 85);
create type sluice_tb_v1 as (
  zero bigint, rest bigint, seen bigint, hold bigint, n bigint, m bigint, burst bigint, until bigint
);
create function sluice_tb_whole_v1(n bigint, m bigint, micro bigint) returns bigint language sql immutable as $$
  select micro / 1000000 * (m * 1000000 / n) + micro % 1000000 * (m / n)
$$;
create function sluice_tb_parts_v1(n bigint, m bigint, micro bigint) returns bigint language sql immutable as $$
  select micro / 1000000 * (m * 1000000 % n) + micro % 1000000 * (m % n)
$$;
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
create function sluice_consume_v1(given bigint, charging boolean, ids text[], sizes int[], calls bigint[])
returns bigint[] language plpgsql volatile as $$
declare
  states sluice_tb_v1[] := array_fill(null::sluice_tb_v1, array[cardinality(ids)]);
  charged sluice_tb_v1[];
  stored boolean[] := array_fill(false, array[cardinality(ids)]);
  reply bigint[] := array_fill(0::bigint, array[2 * cardinality(sizes) + cardinality(calls)]);
  now_us bigint := given;
  first int := 1;
  head int := 1;
  size int;
  looking boolean;
  taken bigint[];
  outcome int;
  call int;
  answer int;
  slot int;
  cost bigint;
  n bigint;
  m bigint;
  burst bigint;
  s sluice_tb_v1;
  at bigint;
  full_whole bigint;
  full_parts bigint;
  full_at bigint;
  zero bigint;
  rest bigint;
  hold bigint;
  moved_zero bigint;
  moved_rest bigint;
  remaining bigint;
begin
  for i in 1..cardinality(ids) loop
    if charging then
      loop
        select t.zero, t.rest, t.seen, t.hold, t.n, t.m, t.burst, null::bigint into s from sluice_tb t where t.id = ids[i] for update;
        stored[i] := found;
        exit when found;
        insert into sluice_tb (id, zero, rest, seen, hold, n, m, burst, until) values (ids[i], 0, 0, 0, 0, 0, 0, 0, 0)
          on conflict (id) do nothing;
        exit when found;
      end loop;
    else
      select t.zero, t.rest, t.seen, t.hold, t.n, t.m, t.burst, null::bigint into s from sluice_tb t where t.id = ids[i];
    end if;
    if s.n > 0 then
      states[i] := s;
    end if;
  end loop;
  if given = 0 then
    now_us := (extract(epoch from clock_timestamp()) * 1000000)::bigint;
  end if;
  foreach size in array sizes loop
    outcome := 0;
    looking := false;
    loop
      charged := states;
      taken := array_fill(0::bigint, array[cardinality(ids)]);
      for i in 0..size - 1 loop
        call := first + 5 * i;
        answer := head + 2 + 5 * i;
        slot := calls[call];
        n := calls[call + 2];
        m := calls[call + 3];
        burst := calls[call + 4];
        s := states[slot];
        if taken[slot] = 0 and (s.n <> n or s.m <> m or s.burst <> burst) then
          s := sluice_tb_adopt_v1(s, n, m, burst, now_us);
          states[slot] := s;
        end if;
        at := greatest(now_us, s.seen);
        full_whole := sluice_tb_whole_v1(n, m, burst);
        full_parts := sluice_tb_parts_v1(n, m, burst);
        zero := at - full_whole - (full_parts + n - 1) / n;
        rest := (n - full_parts % n) % n;
        hold := 0;
        if s.zero > zero or (s.zero = zero and s.rest > rest) then
          zero := s.zero;
          rest := s.rest;
          hold := s.hold;
        elsif s.hold > 0 and at < s.seen + s.hold then
          hold := s.hold;
        end if;
        if not looking then
          cost := taken[slot] + calls[call + 1];
          taken[slot] := cost;
          if cost > burst then
            outcome := 2;
            reply[answer] := 2;
          else
            moved_rest := rest + sluice_tb_parts_v1(n, m, cost);
            moved_zero := zero + sluice_tb_whole_v1(n, m, cost) + moved_rest / n;
            moved_rest := moved_rest % n;
            if moved_zero > at or (moved_zero = at and moved_rest > 0) then
              outcome := greatest(outcome, 1);
              reply[answer] := 1;
              reply[answer + 1] := moved_zero - now_us + case when moved_rest > 0 then 1 else 0 end;
            else
              zero := moved_zero;
              rest := moved_rest;
            end if;
          end if;
        end if;
        full_at := zero + full_whole + (rest + full_parts + n - 1) / n;
        remaining := greatest(0, div((at - zero)::numeric * n - rest, m * 1000000));
        reply[answer + 2] := remaining;
        reply[answer + 4] := case when full_at > at then full_at - now_us else 0 end;
        reply[answer + 3] := case
          when (remaining + 1) * 1000000 > burst then reply[answer + 4]
          else zero + (remaining + 1) * (m * 1000000 / n) + (rest + (remaining + 1) * (m * 1000000 % n) + n - 1) / n - now_us
        end;
        if outcome = 0 then
          charged[slot] := row(
            zero, rest, at, hold, n, m, burst, greatest(full_at, case when hold > 0 then at + hold end)
          )::sluice_tb_v1;
        end if;
      end loop;
      exit when looking or outcome = 0 or size = 1;
      looking := true;
    end loop;
    reply[head] := outcome;
    reply[head + 1] := now_us;
    if outcome = 0 then
      states := charged;
    end if;
    first := first + 5 * size;
    head := head + 2 + 5 * size;
  end loop;
  if charging then
    for i in 1..cardinality(ids) loop
      s := states[i];
      if s.until is not null then
        update sluice_tb t
          set zero = s.zero, rest = s.rest, seen = s.seen, hold = s.hold, n = s.n, m = s.m, burst = s.burst, until = s.until
          where t.id = ids[i];
      elsif not stored[i] then
        delete from sluice_tb t where t.id = ids[i] and t.n = 0;
      end if;
    end loop;
  end if;
  return reply;
end $$;
` },
  { name: '0002-every-algorithm', sha256: '81f9b7f89cc5d8d2dfbea55cc4b1274441f7d3626ea293d571ca346f100ac539', source: `create table sluice_state (
  id uuid primary key,
  unit bigint,
  a bigint,
  b bigint,
  c bigint,
  d bigint,
  hold bigint,
  until bigint
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
create function sluice_aligned_v2(len bigint, now_us bigint, shift bigint) returns bigint language sql immutable as $$
  select ((now_us - shift - case when now_us < shift then len - 1 else 0 end) / len + 1) * len + shift
$$;
create function sluice_fresh_end_v2(len bigint, align bigint, phase bigint, now_us bigint) returns bigint language sql immutable as $$
  select case align
    when 1 then now_us + len
    when 0 then sluice_aligned_v2(len, now_us, 0)
    else sluice_aligned_v2(len, now_us, div(phase::numeric * len, 4294967296)::bigint)
  end
$$;
create function sluice_fresh_at_v2(finish bigint, len bigint, turn bigint) returns bigint language sql immutable as $$
  select finish + case when turn >= 3 then len when turn = 2 then (len + 3) / 4 when turn = 1 then (len + 15) / 16 else (len + 63) / 64 end
$$;
create function sluice_turn_v2(turn bigint, count bigint, most bigint) returns bigint language sql immutable as $$
  select case when turn >= 4 then turn when count * 4 > most then 3 when count * 16 > most then 2 when count * 64 > most then 1 else 0 end
$$;
create function sluice_part_v2(elapsed bigint, len bigint, longer bigint) returns bigint language sql immutable as $$
  select greatest(0, least(elapsed / len, longer / len - 1))
$$;
create function sluice_used_v2(count bigint, part bigint, most bigint) returns bigint language sql immutable as $$
  select case when part > 9007199254740991 / most then 0 else greatest(0, count - part * most) end
$$;
create function sluice_spent_v2(turn bigint, part bigint, most bigint) returns boolean language sql immutable as $$
  select turn = 6 or part + 2 > 9007199254740991 / most
$$;
create function sluice_window_adopt_v2(finish bigint, own bigint, turn bigint, len bigint, align bigint, fresh bigint, now_us bigint)
returns bigint[] language sql immutable as $$
  select case
    when own = len and turn < 5 then array[finish, own, turn]
    when now_us >= finish then case when now_us < sluice_fresh_at_v2(finish, own, turn) then array[finish, own, turn] end
    when turn = 6 then case when len > own then array[finish, len, 4] else array[finish, own, turn] end
    when own = len then array[finish, own, 4]
    when own < len then array[case align when 1 then finish - own + len else greatest(finish, fresh) end, len, 4]
    when turn >= 4 then array[finish, own, turn]
    else array[greatest(finish, fresh), own, 4]
  end
$$;
create function sluice_begun_v2(finish bigint, own bigint, turn bigint, len bigint, align bigint, fresh bigint, now_us bigint)
returns bigint[] language sql immutable as $$
  select case
    when now_us >= sluice_fresh_at_v2(finish, own, turn) then array[fresh, len, 0]
    when own < len then array[greatest(fresh, finish + own), len, 4]
    when own > len and turn < 5 then array[finish + own, own, 5]
    when align <> 1 and fresh - len < finish then array[fresh + len, len, 0]
    else array[fresh, len, 0]
  end
$$;
create function sluice_weighted_v2(previous bigint, remaining bigint, quanta bigint) returns bigint language sql immutable as $$
  select previous / 1000000 * remaining / quanta * 1000000
    + (previous / 1000000 * remaining % quanta * 1000000 + previous % 1000000 * remaining + quanta - 1) / quanta
$$;
create function sluice_share_v2(len bigint, own bigint, until_end bigint, previous bigint) returns bigint language plpgsql immutable as $$
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
  return sluice_weighted_v2(previous, least(quanta, (until_end + quantum - 1) / quantum), quanta);
end $$;
create function sluice_log_after_v2(log uuid, instant bigint, lo bigint, hi bigint) returns bigint language plpgsql stable as $$
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
create function sluice_log_through_v2(log uuid, amount bigint, lo bigint, hi bigint) returns bigint language plpgsql stable as $$
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
create function sluice_log_decide_v2(
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
    else sluice_log_after_v2(log, now_at - len, head, least(tail - 1, kept_tail))
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
      else sluice_log_after_v2(log, now_at - hold, head, least(tail - 1, kept_tail))
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
    reply[2] := sluice_log_fits_v2(log, total + cost - cap, first, tail, newest, kept_tail, kept_total) + len - now_us;
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
      else sluice_log_fits_v2(
        log, before_first + counted + more - cap, first, tail, case when view = 0 and merges then now_at else newest end, kept_tail,
        kept_total
      ) + len - now_us
    end;
    reply[5 + 3 * view] := reset_after;
  end loop;
  return reply;
end $$;
create function sluice_log_fits_v2(
  log uuid, amount bigint, first bigint, tail bigint, newest bigint, kept_tail bigint, kept_total bigint
) returns bigint language plpgsql stable as $$
declare
  found_seq bigint;
begin
  if first >= tail or (tail > kept_tail and amount > kept_total) then
    return newest;
  end if;
  found_seq := sluice_log_through_v2(log, amount, first, least(tail, kept_tail));
  return case when found_seq = tail then newest else (select e.at from sluice_log e where e.id = log and e.seq = found_seq) end;
end $$;
create function sluice_log_write_v2(
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
create function sluice_consume_v2(
  given bigint, charging boolean, waiting int, ids uuid[], firsts int[], sizes int[], plans bigint[], calls bigint[]
) returns bigint[] language plpgsql volatile as $$
declare
  many int := cardinality(ids);
  unit_of bigint[] := array_fill(null::bigint, array[many]);
  a_of bigint[] := unit_of;
  b_of bigint[] := array_fill(0::bigint, array[many]);
  c_of bigint[] := b_of;
  d_of bigint[] := b_of;
  hold_of bigint[] := b_of;
  until_of bigint[] := b_of;
  found_row record;
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
  s sluice_tb_v1;
  unit bigint; a bigint; b bigint; c bigint; d bigint; hold bigint;
  at bigint; zero bigint; rest bigint; room bigint; own_len bigint; base bigint;
  converted boolean;
  looked bigint[];
  stands boolean;
begin
  if charging and waiting = 1 and many > 1 then
    for found_row in
      select x.place, k.* from unnest(ids) with ordinality as x (id, place) cross join lateral (
        select t.unit, t.a, t.b, t.c, t.d, t.hold, t.until from sluice_state t where t.id = x.id for update
      ) k
    loop
      place := found_row.place;
      stored[place] := true;
      unit_of[place] := found_row.unit;
      a_of[place] := found_row.a;
      b_of[place] := coalesce(found_row.b, 0);
      c_of[place] := coalesce(found_row.c, 0);
      d_of[place] := coalesce(found_row.d, 0);
      hold_of[place] := coalesce(found_row.hold, 0);
      until_of[place] := coalesce(found_row.until, 0);
    end loop;
  elsif charging and waiting = 3 then
    for found_row in
      select x.place, k.* from unnest(ids) with ordinality as x (id, place) cross join lateral (
        select t.unit, t.a, t.b, t.c, t.d, t.hold, t.until from sluice_state t where t.id = x.id for update skip locked
      ) k
    loop
      place := found_row.place;
      stored[place] := true;
      unit_of[place] := found_row.unit;
      a_of[place] := found_row.a;
      b_of[place] := coalesce(found_row.b, 0);
      c_of[place] := coalesce(found_row.c, 0);
      d_of[place] := coalesce(found_row.d, 0);
      hold_of[place] := coalesce(found_row.hold, 0);
      until_of[place] := coalesce(found_row.until, 0);
    end loop;
  else
    for i in 1..many loop
      loop
        if not charging then
          select t.unit, t.a, t.b, t.c, t.d, t.hold, t.until into unit, a, b, c, d, hold, at
            from sluice_state t where t.id = ids[i];
        elsif waiting > 0 then
          select t.unit, t.a, t.b, t.c, t.d, t.hold, t.until into unit, a, b, c, d, hold, at
            from sluice_state t where t.id = ids[i] for update;
        else
          select t.unit, t.a, t.b, t.c, t.d, t.hold, t.until into unit, a, b, c, d, hold, at
            from sluice_state t where t.id = ids[i] for update nowait;
        end if;
        stored[i] := found;
        exit when found or not charging or waiting < 2;
        insert into sluice_state (id) values (ids[i]) on conflict (id) do nothing;
        stored[i] := found;
        placed := placed or found;
        exit when found;
      end loop;
      unit_of[i] := unit;
      a_of[i] := a;
      b_of[i] := coalesce(b, 0);
      c_of[i] := coalesce(c, 0);
      d_of[i] := coalesce(d, 0);
      hold_of[i] := coalesce(hold, 0);
      until_of[i] := coalesce(at, 0);
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
      if unit & 3 > 0 then
        reply[place + 2] := unit / 4;
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
        wanted := 8 * wanted - 7;
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
          room := sluice_tb_parts_v1(n, m, burst);
          empty_us := sluice_tb_whole_v1(n, m, burst) + (room + n - 1) / n;
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
        own_len := unit / 4;
        converted := true;
        if kind = 0 then
          select a, b, c, hold, p.n, p.m, p.burst, null::bigint into strict s from (
            select plans[8 * g - 5] as n, plans[8 * g - 4] as m, plans[8 * g - 3] as burst
              from generate_series(1, cardinality(known)) g where plans[8 * g - 6] = unit_of[slot]
            union all
            select k.n, k.m, k.burst from sluice_plan k where k.unit = unit_of[slot]
          ) p limit 1;
          s := sluice_tb_adopt_v1(s, n, m, burst, now_us);
          unit := case when s.n is not null then own_unit end;
          a := s.zero;
          b := s.rest;
          c := s.seen;
          hold := s.hold;
        elsif kind = 1 then
          looked := sluice_window_adopt_v2(a, own_len, hold, len, align, sluice_fresh_end_v2(len, align, calls[place + 4], now_us), now_us);
          converted := looked <> array[a, own_len, hold];
          unit := 4 * looked[2] + 1;
          a := looked[1];
          b := case when hold = 6 and looked[3] = 4 then 9007199254740991 else b end;
          hold := looked[3];
        elsif kind = 2 then
          if own_len = len or (own_len > len and now_us < a) then
            converted := own_len = len and now_us < a;
            hold := case when converted then 0 else hold end;
          else
            if now_us >= a then
              c := case when now_us < a + own_len then b else 0 end;
              b := 0;
              a := a + own_len;
            end if;
            if own_len > len and hold = 0 then
              unit := case when c > 0 then unit end;
              hold := 1;
            else
              a := a - own_len + len;
              unit := case when now_us < a and b + c > 0 then own_unit end;
              hold := 0;
            end if;
          end if;
        else
          hold := greatest(own_len, hold);
          unit := case when a + hold > now_us then own_unit end;
          hold := case when hold > len then hold else 0 end;
        end if;
        if unit is not null and converted then
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
        looked := sluice_log_decide_v2(
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
            at := sluice_fresh_end_v2(len, align, calls[place + 4], now_us);
            looked := array[at, len, 0];
            if unit is not null then
              looked := sluice_begun_v2(a, unit / 4, hold, len, align, at, now_us);
            end if;
            unit := 4 * looked[2] + 1;
            a := looked[1];
            b := 0;
            hold := looked[3];
          end if;
          room := burst;
          base := 0;
          at := now_us - a + unit / 4;
          if hold >= 5 and unit > own_unit then
            base := sluice_part_v2(at, len, unit / 4);
            at := at - base * len;
            if sluice_spent_v2(hold, base, burst) then
              b := sluice_used_v2(b, base, burst);
              unit := unit - 4 * base * len;
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
          hold := sluice_turn_v2(hold, b + cost, burst);
        else
          if unit is null or now_us >= a + len then
            unit := own_unit;
            a := sluice_aligned_v2(len, now_us, 0);
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
            room := room - sluice_share_v2(unit / 4, case when unit = own_unit then quantum else 0 end, a - now_us, c);
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
      for p in 1..cardinality(known) loop
        if plans[8 * p - 6] = unit_of[i] and plans[8 * p - 7] = 0 and not known[p] then
          insert into sluice_plan (unit, n, m, burst) values (unit_of[i], plans[8 * p - 5], plans[8 * p - 4], plans[8 * p - 3])
            on conflict do nothing;
          known[p] := true;
        end if;
      end loop;
      continue when stored[i];
      insert into sluice_state (id, unit, a, b, c, d, hold)
        values (ids[i], unit_of[i], a_of[i], nullif(b_of[i], 0), nullif(c_of[i], 0), nullif(d_of[i], 0), nullif(hold_of[i], 0))
        on conflict (id) do nothing;
      if not found then
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
      if stored[i] then
        update sluice_state t
          set unit = unit_of[i], a = a_of[i], b = nullif(b_of[i], 0), c = nullif(c_of[i], 0), d = nullif(d_of[i], 0),
            hold = nullif(hold_of[i], 0)
          where t.id = ids[i];
      end if;
      if unit_of[i] & 3 = 3 then
        perform sluice_log_write_v2(ids[i], a_of[i], c_of[i], d_of[i], coalesce(old_a[i], 0), old_b[i], old_c[i], old_d[i]);
      end if;
    end loop;
    if placed then
      delete from sluice_state t where t.id = any(ids) and t.unit is null and t.until is null;
    end if;
  end if;
  return reply || told || foreign_plans;
end $$;
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
create function sluice_buckets_v2(
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
    select count(*) filter (where k.unit = own_unit and k.until is null and k.hold is null),
        array_agg(k.lies_at), array_agg(k.a), array_agg(coalesce(k.b, 0)), array_agg(k.c)
      into plain, lies_at, a_of, b_of, c_of
      from unnest(ids) as x (id) cross join lateral (
        select t.ctid as lies_at, t.unit, t.a, t.b, t.c, t.hold, t.until from sluice_state t where t.id = x.id for update
      ) k;
    locked := true;
  end if;
  if plain is distinct from many then
    return sluice_consume_v2(
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
    update sluice_state t set a = d.zero, b = nullif(d.rest, 0), c = d.at from decided d
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
create function sluice_adjust_v2(given bigint, receipt bigint, ids uuid[], plans bigint[], calls bigint[])
returns void language plpgsql volatile as $$
declare
  now_us bigint;
  amount bigint;
  kind int;
  own_unit bigint;
  stored boolean;
  t sluice_state;
  old sluice_state;
  s sluice_tb_v1;
  n bigint; m bigint; burst bigint;
  len bigint; own_len bigint; full_us bigint; full_parts bigint;
  deepest_us bigint; deepest_parts bigint;
  at bigint; room bigint; sum bigint;
  looked bigint[];
begin
  for i in 1..cardinality(ids) loop
    amount := calls[2 * i - 1];
    kind := plans[8 * i - 7];
    own_unit := plans[8 * i - 6];
    burst := plans[8 * i - 5];
    len := plans[8 * i - 4];
    loop
      select * into t from sluice_state r where r.id = ids[i] for update;
      stored := found;
      now_us := case when given = 0 then (extract(epoch from clock_timestamp()) * 1000000)::bigint else given end;
      t.b := coalesce(t.b, 0);
      t.c := coalesce(t.c, 0);
      t.d := coalesce(t.d, 0);
      t.hold := coalesce(t.hold, 0);
      old := t;
      own_len := t.unit / 4;
      if kind = 0 then
        n := plans[8 * i - 5];
        m := plans[8 * i - 4];
        burst := plans[8 * i - 3];
        if t.unit <> own_unit then
          select t.a, t.b, t.c, t.hold, p.n, p.m, p.burst, null::bigint into strict s from sluice_plan p where p.unit = t.unit;
          s := sluice_tb_adopt_v1(s, n, m, burst, now_us);
          t.unit := case when s.n is not null then own_unit end;
          t.a := s.zero;
          t.b := s.rest;
          t.c := s.seen;
          t.hold := s.hold;
        end if;
        full_parts := sluice_tb_parts_v1(n, m, burst);
        full_us := sluice_tb_whole_v1(n, m, burst) + full_parts / n;
        full_parts := full_parts % n;
        at := case when t.unit is null then now_us else greatest(now_us, t.c) end;
        room := at - full_us - case when full_parts > 0 then 1 else 0 end;
        if not (amount > 0 and receipt >= 0 and receipt <= room) then
          if t.unit is null or not (t.a > room or (t.a = room and t.b > (n - full_parts) % n)) then
            t.a := room;
            t.b := (n - full_parts) % n;
            t.hold := case when t.unit is not null and t.hold > 0 and at < t.c + t.hold then t.hold else 0 end;
          end if;
          deepest_us := at + full_us;
          deepest_parts := full_parts;
          room := least(at + 3155760000000000, 9007199254740990 - full_us);
          if deepest_us > room or (deepest_us = room and deepest_parts > 0) then
            deepest_us := room;
            deepest_parts := 0;
          end if;
          if t.a > deepest_us or (t.a = deepest_us and t.b > deepest_parts) then
            deepest_us := t.a;
            deepest_parts := t.b;
          end if;
          sum := least(abs(amount), 2 * burst);
          room := t.b - sign(amount) * sluice_tb_parts_v1(n, m, sum);
          t.b := (room % n + n) % n;
          t.a := t.a - sign(amount) * sluice_tb_whole_v1(n, m, sum) + (room - t.b) / n;
          t.c := at;
          t.unit := own_unit;
          if amount < 0 and (t.a > deepest_us or (t.a = deepest_us and t.b > deepest_parts)) then
            t.a := deepest_us;
            t.b := deepest_parts;
          end if;
          if greatest(t.a + full_us + (t.b + full_parts + n - 1) / n, at + t.hold) <= at then
            t.unit := null;
          end if;
        end if;
      elsif kind = 1 then
        at := sluice_fresh_end_v2(len, plans[8 * i - 3], calls[2 * i], now_us);
        looked := case when t.unit is not null then sluice_window_adopt_v2(t.a, own_len, t.hold, len, plans[8 * i - 3], at, now_us) end;
        t.unit := 4 * looked[2] + 1;
        t.a := coalesce(looked[1], t.a);
        t.b := case when t.hold = 6 and looked[3] = 4 then 9007199254740991 else t.b end;
        t.hold := coalesce(looked[3], 0);
        s := row(t.a, t.b, t.unit / 4, t.hold, null, null, null, null)::sluice_tb_v1;
        if t.unit is null then
          s := row(at, 0, len, 0, null, null, null, null)::sluice_tb_v1;
        elsif now_us >= t.a then
          looked := sluice_begun_v2(t.a, t.unit / 4, t.hold, len, plans[8 * i - 3], at, now_us);
          s := row(looked[1], 0, looked[2], looked[3], null, null, null, null)::sluice_tb_v1;
        end if;
        room := case when s.hold >= 5 and s.seen > len then sluice_part_v2(now_us - s.zero + s.seen, len, s.seen) else 0 end;
        sum := sluice_used_v2(s.rest, room, burst);
        if s.hold >= 5 and sluice_spent_v2(s.hold, room, burst) then
          s.rest := sum;
          s.seen := s.seen - room * len;
          s.hold := 6;
          room := 0;
        end if;
        if amount > 0 then
          if sum > 0 and (receipt < 0 or receipt >= s.zero - s.seen + room * len) then
            t.b := s.rest - least(amount, sum);
            t.unit := case when t.b > 0 or s.hold >= 4 then 4 * s.seen + 1 end;
            t.a := s.zero;
            t.hold := sluice_turn_v2(s.hold, t.b, burst);
          end if;
        elsif sum < 2 * burst then
          t.b := room * burst + least(2 * burst, sum - amount);
          t.unit := 4 * s.seen + 1;
          t.a := s.zero;
          t.hold := sluice_turn_v2(s.hold, t.b, burst);
        end if;
      elsif kind = 2 then
        if t.unit = own_unit then
          t.hold := case when now_us < t.a then 0 else t.hold end;
        elsif own_len < len or now_us >= t.a then
          if now_us >= t.a then
            t.c := case when now_us < t.a + own_len then t.b else 0 end;
            t.b := 0;
            t.a := t.a + own_len;
          end if;
          if own_len > len and t.hold = 0 then
            t.unit := case when t.c > 0 then t.unit end;
            t.hold := 1;
          else
            t.a := t.a - own_len + len;
            t.unit := case when now_us < t.a and t.b + t.c > 0 then own_unit end;
            t.hold := 0;
          end if;
        end if;
        s := row(t.a, t.b, t.c, coalesce(t.unit, own_unit), t.hold, null, null, null)::sluice_tb_v1;
        if t.unit is null or now_us >= t.a + len then
          s := row(sluice_aligned_v2(len, now_us, 0), 0, 0, own_unit, 0, null, null, null)::sluice_tb_v1;
        elsif now_us >= t.a then
          s := row(t.a + len, 0, t.b, t.unit, 0, null, null, null)::sluice_tb_v1;
        end if;
        if amount < 0 then
          room := 2 * burst - s.rest
            - sluice_share_v2(s.hold / 4, case when s.hold = own_unit then plans[8 * i - 3] else 0 end, s.zero - now_us, s.seen);
          if room > 0 then
            t.a := s.zero;
            t.b := s.rest + least(room, -amount);
            t.c := s.seen;
            t.unit := s.hold;
            t.hold := s.n;
          end if;
        elsif receipt < 0 or receipt >= s.zero - 2 * (s.hold / 4) then
          room := s.zero - s.hold / 4;
          sum := case when receipt >= 0 and receipt < room then 0 else least(s.rest, amount) end;
          at := case when receipt >= room then 0 else least(s.seen, amount - sum) end;
          if sum + at > 0 then
            t.a := s.zero;
            t.b := s.rest - sum;
            t.c := s.seen - at;
            t.unit := case when t.b + t.c > 0 then s.hold end;
            t.hold := s.n;
          end if;
        end if;
      else
        if t.unit <> own_unit then
          t.hold := greatest(own_len, t.hold);
          t.unit := case when t.a + t.hold > now_us then own_unit end;
          t.hold := case when t.hold > len then t.hold else 0 end;
        end if;
        if amount < 0 then
          looked := sluice_log_decide_v2(
            ids[i], now_us, burst, len, -amount, case when t.unit is not null then t.a end, t.b, t.c, t.d, t.hold, t.d, t.b, false, true
          );
          if looked[1] = 0 then
            t.a := looked[9];
            t.b := looked[10];
            t.c := looked[11];
            t.d := looked[12];
            t.hold := looked[13];
            t.unit := own_unit;
          end if;
        elsif t.unit is not null then
          t := sluice_log_refund_v2(t, greatest(now_us, t.a) - len, amount, receipt);
        end if;
      end if;
      if not stored then
        exit when t.unit is null;
        if kind = 0 then
          insert into sluice_plan (unit, n, m, burst) values (own_unit, n, m, burst) on conflict do nothing;
        end if;
        insert into sluice_state (id, unit, a, b, c, d, hold)
          values (ids[i], t.unit, t.a, nullif(t.b, 0), nullif(t.c, 0), nullif(t.d, 0), nullif(t.hold, 0))
          on conflict (id) do nothing;
        continue when not found;
      elsif t.unit is null then
        perform sluice_forget_v2(ids[i]);
        exit;
      else
        if kind = 0 and t.unit is distinct from old.unit then
          insert into sluice_plan (unit, n, m, burst) values (own_unit, n, m, burst) on conflict do nothing;
        end if;
        update sluice_state r
          set unit = t.unit, a = t.a, b = nullif(t.b, 0), c = nullif(t.c, 0), d = nullif(t.d, 0), hold = nullif(t.hold, 0)
          where r.id = ids[i];
      end if;
      if kind = 3 and amount < 0 then
        perform sluice_log_write_v2(ids[i], t.a, t.c, t.d, coalesce(old.a, 0), old.b, old.c, old.d);
      end if;
      exit;
    end loop;
  end loop;
end $$;
create function sluice_log_refund_v2(t sluice_state, since bigint, amount bigint, receipt bigint)
returns sluice_state language plpgsql volatile as $$
declare
  ats bigint[];
  costs bigint[];
  given bigint := 0;
  i int;
  part bigint;
begin
  if receipt >= 0 and receipt <= since then
    return t;
  end if;
  select array_agg(e.at order by e.seq), array_agg(e.cost order by e.seq) into ats, costs
    from (select l.seq, l.at, lead(l.base, 1, t.b) over (order by l.seq) - l.base as cost from sluice_log l where l.id = t.id) e;
  for k in 1..cardinality(ats) loop
    i := case when receipt < 0 then cardinality(ats) + 1 - k else k end;
    continue when ats[i] <= since or ats[i] < receipt;
    part := least(amount - given, costs[i]);
    costs[i] := costs[i] - part;
    given := given + part;
  end loop;
  if given = 0 then
    return t;
  end if;
  delete from sluice_log l where l.id = t.id;
  insert into sluice_log (id, seq, at, base)
    select t.id, row_number() over (order by e.place), e.at, coalesce(sum(e.cost) over (order by e.place rows between unbounded preceding and 1 preceding), 0)
    from unnest(ats, costs) with ordinality as e (at, cost, place) where e.cost > 0;
  select max(e.at), coalesce(sum(e.cost), 0), 1, count(*) into t.a, t.b, t.c, t.d from unnest(ats, costs) as e (at, cost) where e.cost > 0;
  if t.d = 0 then
    t.unit := null;
  end if;
  return t;
end $$;
create function sluice_forget_v2(which uuid) returns void language plpgsql volatile as $$
begin
  delete from sluice_state t where t.id = which and t.until is null;
  if not found then
    update sluice_state t set unit = null, a = null, b = null, c = null, d = null, hold = null where t.id = which;
  end if;
  delete from sluice_log e where e.id = which;
end $$;
create function sluice_reset_v2(ids uuid[]) returns void language plpgsql volatile as $$
declare
  which uuid;
begin
  foreach which in array ids loop
    perform from sluice_state t where t.id = which for update;
    if found then
      perform sluice_forget_v2(which);
    end if;
  end loop;
end $$;
create function sluice_block_v2(given bigint, duration bigint, ids uuid[]) returns void language plpgsql volatile as $$
declare
  which uuid;
begin
  foreach which in array ids loop
    perform from sluice_state t where t.id = which for update;
    if duration < 0 then
      delete from sluice_state t where t.id = which and t.unit is null;
      update sluice_state t set until = null where t.id = which and t.until is not null;
    else
      insert into sluice_state as t (id, until)
        values (which, duration + case when given = 0 then (extract(epoch from clock_timestamp()) * 1000000)::bigint else given end)
        on conflict (id) do update set until = excluded.until;
    end if;
  end loop;
end $$;
create function sluice_fresh_v2(
  unit bigint, a bigint, b bigint, c bigint, hold bigint, until bigint, n bigint, m bigint, burst bigint
) returns bigint language sql immutable as $$
  select greatest(until, case unit & 3
    when 0 then greatest(
      a + sluice_tb_whole_v1(n, m, burst) + (coalesce(b, 0) + sluice_tb_parts_v1(n, m, burst) + n - 1) / n, c + coalesce(hold, 0)
    )
    when 1 then sluice_fresh_at_v2(a, unit / 4, coalesce(hold, 0))
    when 2 then a + case when b > 0 then unit / 4 else 0 end
    when 3 then a + greatest(unit / 4, hold)
  end)
$$;
create function sluice_sweep_v2(first_page bigint, pages bigint) returns bigint[] language plpgsql volatile as $$
declare
  now_us bigint := (extract(epoch from clock_timestamp()) * 1000000)::bigint;
  gone uuid[];
begin
  with late as (
    select t.id from sluice_state t left join sluice_plan p on p.unit = t.unit
    where t.ctid >= format('(%s,0)', first_page)::tid and t.ctid < format('(%s,0)', first_page + pages)::tid
      and (t.unit & 3 > 0 or t.unit is null or p.unit is not null)
      and sluice_fresh_v2(t.unit, t.a, t.b, t.c, t.hold, t.until, p.n, p.m, p.burst) <= now_us
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
create function sluice_id_v2(name text) returns uuid language sql immutable as $$
  select left(encode(sha256(convert_to(name, 'UTF8')), 'hex'), 32)::uuid
$$;
create function sluice_unit_v2(n bigint, m bigint, burst bigint) returns bigint language sql immutable as $$
  select ('x0' || left(encode(sha256(convert_to(n || ' ' || m || ' ' || burst, 'UTF8')), 'hex'), 15))::bit(64)::bigint * 4
$$;
create function sluice_return_v1(names text[]) returns void language plpgsql volatile as $$
begin
  insert into sluice_plan (unit, n, m, burst)
    select distinct sluice_unit_v2(t.n, t.m, t.burst), t.n, t.m, t.burst from sluice_tb t where t.id = any(names) and t.n > 0 order by 1
    on conflict do nothing;
  insert into sluice_state as s (id, unit, a, b, c, hold)
    select sluice_id_v2(t.id), sluice_unit_v2(t.n, t.m, t.burst), t.zero, nullif(t.rest, 0), t.seen, nullif(t.hold, 0)
    from sluice_tb t where t.id = any(names) and t.n > 0 order by 1
    on conflict (id) do update set unit = excluded.unit, a = excluded.a, b = excluded.b, c = excluded.c, hold = excluded.hold;
  delete from sluice_tb t where t.id = any(names);
end $$;
create function sluice_guard_v1() returns trigger language plpgsql volatile as $$
begin
  if coalesce(current_setting('sluice.borrowed', true), '') <> 'on' then
    raise exception 'sluice has been migrated meanwhile' using errcode = '40001';
  end if;
  return null;
end $$;
lock table sluice_tb in access exclusive mode;
select sluice_return_v1(array(select t.id from sluice_tb t));
create trigger sluice_guard_v1 before insert on sluice_tb for each statement execute function sluice_guard_v1();
alter function sluice_consume_v1(bigint, boolean, text[], int[], bigint[]) rename to sluice_borrow_v1;
create function sluice_consume_v1(given bigint, charging boolean, ids text[], sizes int[], calls bigint[])
returns bigint[] language plpgsql volatile as $$
declare
  now_us bigint := given;
  name text;
  which uuid;
  call int;
  row_of sluice_state;
  free text[] := '{}';
  reply bigint[];
begin
  perform set_config('sluice.borrowed', 'on', true);
  for name, which in select x.name, sluice_id_v2(x.name) from unnest(ids) as x (name) order by 2 loop
    if charging then
      loop
        select * into row_of from sluice_state t where t.id = which for update;
        exit when found;
        insert into sluice_state (id) values (which) on conflict (id) do nothing;
      end loop;
    else
      select * into row_of from sluice_state t where t.id = which;
    end if;
    if given = 0 then
      now_us := (extract(epoch from clock_timestamp()) * 1000000)::bigint;
    end if;
    if row_of.until > now_us then
      call := (select x.place from unnest(calls) with ordinality as x (number, place) where x.place % 5 = 1 and ids[x.number] = name limit 1);
      insert into sluice_tb (id, zero, rest, seen, hold, n, m, burst, until)
        values (name, row_of.until, 0, 0, 0, calls[call + 2], calls[call + 3], calls[call + 4], 0);
    else
      free := free || name;
      if row_of.unit is not null then
        insert into sluice_tb (id, zero, rest, seen, hold, n, m, burst, until)
          select name, row_of.a, coalesce(row_of.b, 0), coalesce(row_of.c, 0), coalesce(row_of.hold, 0), p.n, p.m, p.burst, 0
          from sluice_plan p where p.unit = row_of.unit;
      end if;
    end if;
  end loop;
  reply := sluice_borrow_v1(given, charging, ids, sizes, calls);
  if charging then
    perform sluice_return_v1(free);
    delete from sluice_state t where t.id = any(array(select sluice_id_v2(x.name) from unnest(ids) as x (name))) and t.unit is null and t.until is null;
  end if;
  delete from sluice_tb t where t.id = any(ids);
  perform set_config('sluice.borrowed', 'off', true);
  return reply;
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
