-- Decides groups of calls, each all or nothing, on the database's clock: the reference driver (algorithms/group.ts), replayed. It
-- admits and writes; what people are told about it the caller computes from the states that were found.
-- It is run for every decision, so it decides in one place, on scalars: calls and rows are what costs time here.
--
-- given     time in microseconds since 1970; 0 for the database's own clock, read once every row is locked
-- charging  false to look
-- waiting   1 to lock the rows that are there, 2 to hold the place of new states too, which leaves dead rows;
--           3 where the caller has locked all rows that were there: others may have been made since, and waiting for them could deadlock
-- ids       the states, each once, in their order: rows are locked in it, so groups cannot deadlock
-- firsts    for each state, which plan its first call has (from 1)
-- sizes     the number of calls of each group
-- plans     for each plan: kind, unit, and the numbers of its plan; eight in all
-- calls     for each call: index into ids (from 1), cost in micro-tokens, index into plans (from 1), phase
-- returns   time; for each group outcome (0 allowed, 1 denied, 2 impossible); for each state as it was found: block, unit (0 for none,
--           for a bucket index into plans, or below 0 into what follows), a, b, c, hold; for each call to a log its outcome,
--           retryAfter, remaining, replenishAfter, resetAfter; n, m, burst of plans that were not given.
--           Null, with nothing written, where somebody else made one of the states meanwhile: ask again.
create function sluice_consume(
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
-- include: ../parts/consume-read.sql
  foreach size in array sizes loop
    outcome := 0;
    next_of := '{}';
    for j in 0..size - 1 loop
      place := head + 4 * j;
      slot := calls[place + 1];
      cost := calls[place + 2];
      wanted := calls[place + 3];
      -- A call that shares a state with earlier ones of its group is decided with their costs added.
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
          -- So much before now a bucket that is full now was empty.
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

      -- A state of another unit is converted, and the conversion stays whatever the group's outcome (law 7).
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
        -- Where zero stands: never further back than a full bucket.
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
        -- Of what is not charged, since it is blocked or only looked at, the log is told as it stands.
        stands := not charging or until_of[slot] > now_us;
        looked := sluice_log_decide(
          ids[slot], now_us, burst, len, cost, a, b, c, d, hold, old_d[slot], old_b[slot], size > 1 or stands, false
        );
        step := looked[1];
        told := told || looked[1:2] || case when step = 0 and not stands then looked[3:5] else looked[6:8] end;
        if size > 1 and step = 0 then
          -- What is told when the group is denied after all.
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
-- include: ../parts/consume-write.sql
  end if;
  return reply || told || foreign_plans;
end $$;
