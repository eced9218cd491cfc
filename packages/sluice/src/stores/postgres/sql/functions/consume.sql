-- Decides groups of calls, each all or nothing, on the database's clock: the reference driver (algorithms/group.ts), replayed.
-- It admits and writes; what callers are told about it the caller computes from the states that were found.
-- It is run for every decision, so it decides in one place: calls and rows are what costs time here.
--
-- given     time in microseconds since 1970; 0 for the database's own clock, read once every row is locked
-- charging  false to look
-- waiting   1 to lock the rows that are there, 2 to hold the place of new states too, which leaves dead rows;
--           3 where the caller has locked all rows that were there: others may have been made since, and waiting for them
--           could deadlock
-- ids       the states, each once, in their order: rows are locked in it, so groups cannot deadlock
-- firsts    for each state, which plan its first call has (from 1)
-- sizes     the number of calls of each group
-- plans     for each plan: kind, plan id, and the numbers of its plan; eight in all
-- calls     for each call: index into ids (from 1), cost in micro-tokens, index into plans (from 1), phase
-- returns   time; for each group outcome (0 allowed, 1 denied, 2 impossible); for each state as it was found: block, unit
--           (0 for none, for a bucket index into plans, or below 0 into what follows), a, b, c, hold; for each call to a log
--           its outcome, retryAfter, remaining, replenishAfter, resetAfter; n, m, burst of plans that were not given.
--           Null, with nothing written, where another transaction inserted one of the states meanwhile: ask again.
create function sluice_consume(
  given bigint, charging boolean, waiting int, ids uuid[], firsts int[], sizes int[], plans bigint[], calls bigint[]
) returns bigint[] language plpgsql volatile as $$
declare
  many int := cardinality(ids);
  was sluice_state[];
  states sluice_state[] := '{}';
  next_of sluice_state[] := '{}';
  s sluice_state;
  changed boolean[] := array_fill(false, array[many]);
  known bigint[] := '{}';
  reply bigint[] := array_fill(0::bigint, array[1 + cardinality(sizes) + 6 * many]);
  foreign_plans bigint[] := '{}';
  told bigint[] := '{}';
  uncharged bigint[];
  now_us bigint := given;
  head int := 0;
  answer int := 1;
  place int;
  size int;
  outcome int;
  step int;
  slot int;
  cost bigint;
  phase bigint;
  wanted int;
  plan_at int := 0;
  plan bigint[];
  kind int;
  n bigint; m bigint; burst bigint; len bigint; ramp bigint;
  token_us bigint; token_parts bigint; micro_us bigint; micro_parts bigint; empty_us bigint; empty_parts bigint;
  at bigint; zero bigint; rest bigint; room bigint; part bigint;
  looked record;
  blocked boolean;
  stands boolean;
begin
-- include: ../parts/consume-read.sql
  foreach size in array sizes loop
    outcome := 0;
    uncharged := '{}';
    for j in 1..size loop
      place := head + 4 * j - 4;
      slot := calls[place + 1];
      cost := calls[place + 2];
      wanted := calls[place + 3];
      phase := calls[place + 4];
      -- A call that shares a state with earlier ones of its group is decided with their costs added.
      for k in 1..j - 1 loop
        if calls[head + 4 * k - 3] = slot then
          cost := cost + calls[head + 4 * k - 2];
        end if;
      end loop;
      if wanted <> plan_at then
        plan_at := wanted;
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
          -- So much before now a bucket that is full now was empty.
          rest := burst / 1000000 * token_parts + burst % 1000000 * micro_parts;
          empty_us := burst / 1000000 * token_us + burst % 1000000 * micro_us + (rest + n - 1) / n;
          empty_parts := (n - rest % n) % n;
        else
          burst := plan[3];
          len := plan[4];
          ramp := plan[6];
        end if;
      end if;
      s := states[slot];
      blocked := coalesce(s.blocked_until > now_us, false);

      -- A state of another unit is converted, and the conversion stays whatever the group's outcome (law 7).
      if s.unit <> plan[2] or s.turn = 5 or s.absent = 1 then
        s := sluice_adopt(s, plan, plans, phase, now_us);
        if s.unit is not null and s is distinct from states[slot] then
          states[slot] := s;
          changed[slot] := true;
        end if;
      end if;

      if kind = 0 then
        -- Where zero stands: never further back than a full bucket.
        at := greatest(now_us, s.seen);
        zero := at - empty_us;
        rest := empty_parts;
        if s.zero > zero or (s.zero = zero and coalesce(s.rest, 0) > rest) then
          zero := s.zero;
          rest := coalesce(s.rest, 0);
        elsif at >= s.seen + s.hold then
          s.hold := null;
        end if;
        part := least(cost, burst);
        rest := rest + part / 1000000 * token_parts + part % 1000000 * micro_parts;
        zero := zero + part / 1000000 * token_us + part % 1000000 * micro_us + rest / n;
        rest := rest % n;
        step := case when cost > burst then 2 when zero > at or (zero = at and rest > 0) then 1 else 0 end;
        s.unit := plan[2];
        s.zero := zero;
        s.rest := rest;
        s.seen := at;
      elsif kind = 3 then
        -- Of what is not charged, since it is blocked or only looked at, the log is told as it stands.
        stands := not charging or blocked;
        looked := sluice_log_decide(s, was[slot], plan, cost, now_us, size > 1 or stands, false);
        s := looked.s;
        step := looked.told[1];
        told := told || looked.told[1:2] || case when step = 0 and not stands then looked.told[3:5] else looked.told[6:8] end;
        if size > 1 and step = 0 then
          -- What is told when the group is denied after all.
          uncharged := uncharged || cardinality(told)::bigint || looked.told[6:8];
        end if;
      else
        if s.unit is null or now_us >= s.ends or s.turn >= 5 then
          s := case kind when 1 then sluice_window_at(s, plan, phase, now_us) else sluice_counter_at(s, len, now_us) end;
        end if;
        if kind = 1 then
          part := sluice_part(s.ends, s.unit, s.turn, len, now_us);
          at := now_us - s.ends + s.unit - part * len;
          s.current := greatest(part * burst, s.current);
          room := burst;
          if ramp > 0 and at < ramp then
            room := least(burst, greatest(1000000, greatest(0, at) * plan[7] / plan[8]));
          end if;
          room := room + part * burst - s.current;
          s.turn := sluice_turn(coalesce(s.turn, 0), s.current + cost, burst);
        else
          s.current := coalesce(s.current, 0);
          room := burst - s.current;
          if s.previous > 0 then
            room := room - sluice_share(s, plan, now_us);
          end if;
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
    answer := answer + 1;
    reply[answer] := outcome;
    if outcome = 0 then
      for j in 1..size loop
        slot := calls[head + 4 * j - 3];
        states[slot] := next_of[j];
        changed[slot] := true;
      end loop;
    else
      for k in 1..cardinality(uncharged) / 4 loop
        place := uncharged[4 * k - 3];
        told[place - 2:place] := uncharged[4 * k - 2:4 * k];
      end loop;
    end if;
    head := head + 4 * size;
  end loop;

  if charging then
-- include: ../parts/consume-write.sql
  end if;
  return reply || told || foreign_plans;
end $$;
