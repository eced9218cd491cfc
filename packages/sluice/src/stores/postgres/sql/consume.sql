-- Decides groups of calls, each all or nothing, on the database's clock: the reference driver (algorithms/group.ts), replayed.
--
-- given     time in microseconds since 1970; 0 for the database's own clock, read once every row is locked
-- charging  false to look
-- ids       the states, each once, in the order of their bytes: rows are locked in that order, so groups cannot deadlock
-- sizes     the number of calls of each group
-- calls     for each call: index into ids (from 1), cost in micro-tokens, n, m, burst
-- returns   for each group: outcome (0 allowed, 1 denied, 2 impossible), time, and for each of its calls outcome, retryAfter,
--           remaining, replenishAfter, resetAfter (microseconds from that time)
create or replace function sluice_consume_v1(given bigint, charging boolean, ids text[], sizes int[], calls bigint[])
returns bigint[] language plpgsql volatile as $$
declare
  states sluice_state[] := array_fill(null::sluice_state, array[cardinality(ids)]);
  adopted sluice_state[];
  stored boolean[] := array_fill(false, array[cardinality(ids)]);
  dirty boolean[] := array_fill(false, array[cardinality(ids)]);
  taken bigint[];
  made boolean;
  now_us bigint := given;
  at int := 1;
  first int;
  size int;
  slot int;
  total bigint;
  n bigint;
  m bigint;
  burst bigint;
  outcome int;
  outcomes int[];
  waits bigint[];
  nexts sluice_state[];
  s sluice_state;
  empty sluice_state;
  seen_at bigint;
  f record;
  span record;
  sum bigint;
  zero bigint;
  rest bigint;
  view record;
  reply bigint[] := '{}';
begin
  for i in 1..cardinality(ids) loop
    if not charging then
      select * into s from sluice_state where id = ids[i];
      stored[i] := found;
    else
      loop
        select * into s from sluice_state where id = ids[i] for update;
        stored[i] := found;
        exit when found;
        -- The row is made at once, so that the first call of a key is locked like every other.
        insert into sluice_state values (ids[i], 0, 0, 0, 0, 0, 0, 0, 0) on conflict (id) do nothing;
        made := found;
        exit when made;
      end loop;
    end if;
    if stored[i] and s.n > 0 then
      states[i] := s;
    end if;
  end loop;
  if given = 0 then
    now_us := (extract(epoch from clock_timestamp()) * 1000000)::bigint;
  end if;

  foreach size in array sizes loop
    adopted := states;
    taken := array_fill(null::bigint, array[cardinality(ids)]);
    outcome := 0;
    outcomes := '{}';
    waits := '{}';
    nexts := array_fill(null::sluice_state, array[cardinality(ids)]);
    first := at;
    for i in 1..size loop
      slot := calls[at];
      n := calls[at + 2];
      m := calls[at + 3];
      burst := calls[at + 4];
      if taken[slot] is null then
        s := adopted[slot];
        if s.id is not null then
          adopted[slot] := sluice_tb_adopt_v1(s, n, m, burst, now_us);
        end if;
      end if;
      total := coalesce(taken[slot], 0) + calls[at + 1];
      taken[slot] := total;
      s := adopted[slot];
      seen_at := case when s.id is null then now_us else greatest(now_us, s.seen) end;
      f := sluice_tb_filled_v1(s, n, m, burst, seen_at);
      zero := f.zero;
      rest := f.rest;
      if total > burst then
        outcomes := outcomes || 2;
        waits := waits || 0::bigint;
        outcome := 2;
      else
        span := sluice_tb_span_v1(n, m, total);
        sum := rest + span.rest;
        zero := zero + span.micros + sum / n;
        rest := sum % n;
        if zero > seen_at or (zero = seen_at and rest > 0) then
          outcomes := outcomes || 1;
          waits := waits || zero - now_us + case when rest > 0 then 1 else 0 end;
          outcome := greatest(outcome, 1);
        else
          outcomes := outcomes || 0;
          waits := waits || 0::bigint;
          nexts[slot] := row(ids[slot], zero, rest, seen_at, f.hold, n, m, burst, 0)::sluice_state;
        end if;
      end if;
      at := at + 5;
    end loop;

    reply := reply || outcome::bigint || now_us;
    taken := array_fill(0::bigint, array[cardinality(ids)]);
    for i in 1..size loop
      slot := calls[first];
      n := calls[first + 2];
      m := calls[first + 3];
      burst := calls[first + 4];
      s := adopted[slot];
      seen_at := case when s.id is null then now_us else greatest(now_us, s.seen) end;
      f := sluice_tb_filled_v1(s, n, m, burst, seen_at);
      zero := f.zero;
      rest := f.rest;
      if outcome = 0 then
        taken[slot] := taken[slot] + calls[first + 1];
        span := sluice_tb_span_v1(n, m, taken[slot]);
        sum := rest + span.rest;
        zero := zero + span.micros + sum / n;
        rest := sum % n;
        states[slot] := nexts[slot];
        dirty[slot] := true;
      elsif s.id is not null and (states[slot]).n is not null and s is distinct from states[slot] then
        states[slot] := s;
        dirty[slot] := true;
      end if;
      view := sluice_tb_look_v1(n, m, burst, zero, rest, seen_at, now_us);
      reply := reply || outcomes[i]::bigint || waits[i] || view.remaining || view.replenish_after || view.reset_after;
      first := first + 5;
    end loop;
  end loop;

  if charging then
    for i in 1..cardinality(ids) loop
      if dirty[i] then
        s := states[i];
        update sluice_state t
          set zero = s.zero, rest = s.rest, seen = s.seen, hold = s.hold, n = s.n, m = s.m, burst = s.burst,
              until = sluice_tb_until_v1(s)
          where t.id = ids[i];
      elsif not stored[i] then
        delete from sluice_state t where t.id = ids[i] and t.n = 0;
      end if;
    end loop;
  end if;
  return reply;
end $$;
