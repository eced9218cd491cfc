-- Decides groups of calls, each all or nothing, as algorithms/group.ts does. From the states as found, the caller
-- computes remaining and waits. Function calls take much of the time, so most code is here.
--
-- at_us     microseconds since 1970; 0 for the database's own clock, which is read once every row is locked
-- charging  false for a peek
-- waiting   1: locks existing rows. 2: also inserts new rows first, which leaves dead rows. 3: the caller has locked
--           the rows; rows inserted since then are not waited for, as that could deadlock
-- ids       the states, each once, in the order of the ids: rows are locked in this order, so groups cannot deadlock
-- firsts    for each state the plan of its first call: index into plans (from 1)
-- sizes     the number of calls of each group
-- plans     eight numbers for each plan (a limit): kind (as in sluice_state), plan id, the algorithm's numbers; of a
--           bucket also by how many microseconds a call may be charged ahead. The plan id of kind 4 is 0. Numbers of
--           slots: limit, microseconds of a slot, the holder's id in two numbers (-1: no id). Numbers of a hold's
--           record: 0, microseconds of the hold, 1 if it will not be settled, how many preceding calls of the group it
--           records; for each of these a number that names its limit, and micro-tokens (further groups of eight)
-- calls     four numbers for each call: index into ids (from 1), micro-tokens, index into plans (from 1), phase (see
--           sluice_fresh_end)
-- returns   time; outcome of each group (0 allowed, 1 denied, 2 impossible); for each state as found: end of its block,
--           plan id (0: no state), a, b, c, d. Instead of a plan id, slots and records have how many numbers they have,
--           and buckets the index into plans, or minus the place in the last list. Then the numbers of slots and
--           records; for each call to a log outcome, retryAfter, remaining, replenishAfter, resetAfter; the last list:
--           n, m, burst of plans that are not in plans. Null, with nothing written: another transaction has inserted a
--           state, so the caller calls again
-- a to d    columns of sluice_state: of a bucket zero, rest, seen, keep_for; of a window ends, current, 0, turn; of a
--           counter ends, current, previous, absent
create function sluice_consume(
  at_us bigint, charging boolean, waiting int, ids uuid[], firsts int[], sizes int[], plans bigint[], calls bigint[]
) returns bigint[] language plpgsql volatile as $$
declare
  many int := cardinality(ids);
  was sluice_state[];
  states sluice_state[] := '{}';
  next_of sluice_state[] := '{}';
  s sluice_state;
  known bigint[] := '{}';
  reply bigint[] := array_fill(0::bigint, array[1 + cardinality(sizes) + 6 * many]);
  others bigint[] := '{}';
  numbers bigint[];
  log_verdicts bigint[] := '{}';
  other_plans bigint[] := '{}';
  uncharged bigint[];
  now_us bigint;
  head int := 0;
  index int;
  size int;
  outcome int;
  step int;
  slot int;
  cost bigint;
  wanted int;
  plan_index int := 0;
  plan bigint[];
  kind int;
  n bigint; m bigint; burst bigint; len bigint;
  token_us bigint; token_parts bigint; micro_us bigint; micro_parts bigint; empty_us bigint; empty_parts bigint;
  at bigint; zero bigint; rest bigint; room bigint; part bigint;
  decided record;
  blocked boolean;
  peeking boolean;
begin
  -- Locks several rows in the order of the ids. The planner does not flatten a lateral subquery that locks, so each row
  -- is found by the index.
  if charging and many > 1 and waiting = 1 then
    select array_agg(k.t) into states from unnest(ids) as x (id)
      left join lateral (select t from sluice_state t where t.id = x.id for update) k on true;
  elsif charging and waiting = 3 then
    select array_agg(k.t) into states from unnest(ids) as x (id)
      left join lateral (select t from sluice_state t where t.id = x.id for update skip locked) k on true;
  else
    for i in 1..many loop
      loop
        if not charging then
          select t.* into s from sluice_state t where t.id = ids[i];
        else
          select t.* into s from sluice_state t where t.id = ids[i] for update;
        end if;
        exit when found or not charging or waiting = 1;
        insert into sluice_state as t (id) values (ids[i]) on conflict (id) do nothing returning t.* into s;
        exit when found;
      end loop;
      states[i] := s;
    end loop;
  end if;
  now_us := sluice_now(at_us);
  was := states;

  reply[1] := now_us;
  index := 1 + cardinality(sizes);
  for i in 1..many loop
    s := was[i];
    reply[index + 1] := coalesce(s.blocked_until, 0);
    if s.plan_id is not null then
      wanted := 8 * firsts[i] - 7;
      if s.kind <> plans[wanted] then
        raise exception 'a state is of kind %, where % is known', s.kind, plans[wanted] using errcode = 'SL002';
      elsif s.kind = 4 then
        numbers := string_to_array(encode(s.state, 'escape'), ' ')::bigint[];
        reply[index + 2] := cardinality(numbers);
        others := others || numbers;
      elsif s.kind > 0 then
        reply[index + 2] := s.plan_id;
      elsif s.plan_id = plans[wanted + 1] then
        reply[index + 2] := firsts[i];
      else
        select other_plans || array[p.n, p.m, p.burst] into strict other_plans
          from sluice_plan p where p.plan_id = s.plan_id;
        reply[index + 2] := -cardinality(other_plans) / 3;
      end if;
      reply[index + 3] := coalesce(s.zero, s.ends, s.newest);
      reply[index + 4] := coalesce(s.rest, s.current, s.charged, 0);
      reply[index + 5] := coalesce(s.seen, s.previous, s.head, 0);
      reply[index + 6] := coalesce(s.keep_for, s.turn, s.absent, 0);
    end if;
    index := index + 6;
  end loop;

  for g in 1..cardinality(sizes) loop
    size := sizes[g];
    outcome := 0;
    uncharged := '{}';
    for j in 1..size loop
      index := head + 4 * j - 4;
      slot := calls[index + 1];
      cost := calls[index + 2];
      wanted := calls[index + 3];
      for k in 1..j - 1 loop
        if calls[head + 4 * k - 3] = slot then
          cost := cost + calls[head + 4 * k - 2];
        end if;
      end loop;
      if wanted <> plan_index then
        plan_index := wanted;
        plan := plans[8 * wanted - 7:8 * wanted];
        kind := plan[1];
        if kind = 0 then
          n := plan[3];
          m := plan[4];
          burst := plan[5];
          token_us := m * 1000000 / n;
          token_parts := m * 1000000 % n;
          micro_us := m / n;
          micro_parts := m % n;
          -- How long a bucket takes to fill: whole microseconds, less n-ths of one.
          rest := burst / 1000000 * token_parts + burst % 1000000 * micro_parts;
          empty_us := burst / 1000000 * token_us + burst % 1000000 * micro_us + (rest + n - 1) / n;
          empty_parts := (n - rest % n) % n;
        else
          burst := plan[3];
          len := plan[4];
        end if;
      end if;
      s := states[slot];
      blocked := coalesce(s.blocked_until > now_us, false);

      -- A state that another limit wrote is converted, and written even if the group is denied.
      if s.plan_id <> plan[2] or s.turn = 5 or s.absent = 1 then
        s := sluice_adopt(s, plan, plans, calls[index + 4], now_us);
        if s.plan_id is not null then
          states[slot] := s;
        end if;
      end if;

      if kind = 0 then
        -- The instant at which the bucket was empty, but not earlier than for a full bucket.
        at := greatest(now_us, s.seen);
        zero := at - empty_us;
        rest := empty_parts;
        if s.zero > zero or (s.zero = zero and coalesce(s.rest, 0) > rest) then
          zero := s.zero;
          rest := coalesce(s.rest, 0);
        elsif at >= greatest(s.seen, s.zero) + s.keep_for then
          s.keep_for := null;
        end if;
        part := least(cost, burst);
        rest := rest + part / 1000000 * token_parts + part % 1000000 * micro_parts;
        zero := zero + part / 1000000 * token_us + part % 1000000 * micro_us + rest / n;
        rest := rest % n;
        room := at + plan[6];
        step := case when cost > burst then 2 when zero > room or (zero = room and rest > 0) then 1 else 0 end;
        s.plan_id := plan[2];
        s.zero := zero;
        s.rest := rest;
        s.seen := at;
      elsif kind = 3 then
        -- Under a block, or for a peek, nothing is charged. The call then gets the view (remaining, replenishAfter,
        -- resetAfter) of the log as it is.
        peeking := not charging or blocked;
        decided := sluice_log_decide(s, was[slot], plan, cost, now_us, size > 1 or peeking, false);
        s := decided.s;
        step := decided.verdict[1];
        log_verdicts := log_verdicts || decided.verdict[1:2]
          || case when step = 0 and not peeking then decided.verdict[3:5] else decided.verdict[6:8] end;
        -- The view without this call's charge, in case another call of the group is denied.
        uncharged := uncharged || cardinality(log_verdicts)::bigint || decided.verdict[6:8];
      elsif kind = 4 and burst = 0 then
        step := case when cost > 1 then 2 when now_us < s.ends then 1 else 0 end;
        if outcome + step = 0 then
          part := now_us + len;
          s.state := format('%s %s %s', now_us, part, plan[5]);
          for k in 0..plan[6] - 1 loop
            at := plans[8 * wanted - 1 + 2 * k];
            room := plans[8 * wanted + 2 * k];
            zero := case when (next_of[j - plan[6] + k]).kind = 0 then (next_of[j - plan[6] + k]).zero else 0 end;
            s.state := s.state || format(' %s %s %s 0 %s', at, room, room, zero)::bytea;
          end loop;
          s.plan_id := 0;
          s.ends := part + 60000000;
        end if;
      elsif kind = 4 then
        decided := sluice_take(s, burst, len, plan[5], plan[6], cost, now_us);
        s := decided.s;
        step := decided.step;
      else
        if s.plan_id is null or now_us >= s.ends or s.turn >= 5 then
          s := case kind
            when 1 then sluice_window_at(s, plan, calls[index + 4], now_us)
            else sluice_counter_at(s, len, now_us)
          end;
        end if;
        room := burst;
        if kind = 1 then
          part := sluice_part(s.ends, s.plan_id, s.turn, len, now_us);
          at := now_us - s.ends + s.plan_id - part * len;
          if plan[6] > 0 and at < plan[6] then
            room := least(burst, greatest(1000000, greatest(0, at) * plan[7] / plan[8]));
          end if;
          s.current := greatest(part * burst, s.current);
          room := room + part * burst - s.current;
          s.turn := sluice_turn(coalesce(s.turn, 0), s.current + cost, burst);
        else
          s.current := coalesce(s.current, 0);
          room := room - s.current - case when s.previous > 0 then sluice_share(s, plan, now_us) else 0 end;
        end if;
        step := case when cost > burst then 2 when cost > room then 1 else 0 end;
        s.current := s.current + cost;
      end if;

      outcome := greatest(outcome, step, case when blocked then 1 else 0 end);
      if outcome = 0 then
        s.id := ids[slot];
        s.kind := kind;
        next_of[j] := s;
      end if;
    end loop;
    reply[1 + g] := outcome;
    if outcome = 0 then
      for j in 1..size loop
        slot := calls[head + 4 * j - 3];
        states[slot] := next_of[j];
      end loop;
    else
      for k in 1..cardinality(uncharged) / 4 loop
        index := uncharged[4 * k - 3];
        log_verdicts[index - 2:index] := uncharged[4 * k - 2:4 * k];
      end loop;
    end if;
    head := head + 4 * size;
  end loop;

  if charging then
    -- Rows of new states are inserted first. If another transaction has inserted one of them, nothing is charged.
    -- Inserting them before the decision would leave a dead row for every key.
    for i in 1..many loop
      s := states[i];
      if s.kind = 0 and s.plan_id is distinct from (was[i]).plan_id and s.plan_id <> all (known) then
        known := known || s.plan_id;
        insert into sluice_plan (plan_id, n, m, burst)
          select s.plan_id, plans[8 * p - 5], plans[8 * p - 4], plans[8 * p - 3]
            from generate_series(1, cardinality(plans) / 8) p
            where plans[8 * p - 7] = 0 and plans[8 * p - 6] = s.plan_id
          on conflict do nothing;
      end if;
      if s.id is not null and (was[i]).id is null and not sluice_write(s, false) then
        delete from sluice_state t using generate_series(1, i - 1) k
          where t.id = (states[k]).id and (was[k]).id is null;
        return null;
      end if;
    end loop;
    for i in 1..many loop
      s := states[i];
      continue when s is not distinct from was[i];
      if (was[i]).id is not null then
        perform sluice_write(s, true);
      end if;
      if s.kind = 3 then
        perform sluice_log_write(s, was[i]);
      end if;
    end loop;
    if waiting = 2 then
      delete from sluice_state t where t.id = any(ids) and t.plan_id is null and t.blocked_until is null;
    end if;
  end if;
  return reply || others || log_verdicts || other_plans;
end $$;
