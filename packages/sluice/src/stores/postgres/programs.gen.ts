// Made from the programs beside this file by `npm run generate`; edit those, not this.

export const migrations: readonly { readonly name: string; readonly source: string }[] = [
  { name: '0001-token-bucket', source: `create table if not exists sluice_state (
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
create or replace function sluice_tb_span_v1(n bigint, m bigint, micro bigint, out micros bigint, out rest bigint)
language plpgsql immutable strict as $$
declare
  total numeric := micro::numeric * m;
begin
  micros := div(total, n);
  rest := total - micros::numeric * n;
end $$;
create or replace function sluice_tb_filled_v1(
  s sluice_state, n bigint, m bigint, burst bigint, at bigint,
  out zero bigint, out rest bigint, out hold bigint)
language plpgsql immutable as $$
declare
  full_micros bigint;
  full_rest bigint;
begin
  select f.micros, f.rest into full_micros, full_rest from sluice_tb_span_v1(n, m, burst) f;
  zero := at - full_micros;
  rest := 0;
  hold := 0;
  if full_rest > 0 then
    zero := zero - 1;
    rest := n - full_rest;
  end if;
  if s.id is null then
    return;
  end if;
  if s.zero > zero or (s.zero = zero and s.rest > rest) then
    zero := s.zero;
    rest := s.rest;
    hold := s.hold;
  elsif s.hold > 0 and at < s.seen + s.hold then
    hold := s.hold;
  end if;
end $$;
create or replace function sluice_tb_until_v1(s sluice_state) returns bigint
language plpgsql immutable as $$
declare
  f record;
  fresh bigint;
begin
  f := sluice_tb_span_v1(s.n, s.m, s.burst);
  fresh := s.zero + f.micros + (s.rest + f.rest + s.n - 1) / s.n;
  return case when s.hold > 0 then greatest(fresh, s.seen + s.hold) else fresh end;
end $$;
create or replace function sluice_tb_adopt_v1(s sluice_state, n bigint, m bigint, burst bigint, now_us bigint) returns sluice_state
language plpgsql immutable as $$
declare
  at bigint := greatest(now_us, s.seen);
  old record;
  f record;
  scaled numeric;
  micro bigint;
  part numeric;
  span record;
  behind bigint;
  back bigint;
  made sluice_state;
begin
  if s.n = n and s.m = m and s.burst = burst then
    return s;
  end if;
  if sluice_tb_until_v1(s) <= at then
    return null;
  end if;
  old := sluice_tb_filled_v1(s, s.n, s.m, s.burst, at);
  scaled := (at - old.zero)::numeric * s.n - old.rest;
  micro := greatest(0, div(scaled, s.m));
  part := greatest(0, scaled - micro::numeric * s.m);
  if micro >= burst then
    micro := burst;
    part := 0;
  end if;
  span := sluice_tb_span_v1(n, m, micro);
  behind := span.rest + div(part * m, s.m);
  back := (behind + n - 1) / n;
  f := sluice_tb_span_v1(s.n, s.m, s.burst);
  made := s;
  made.zero := at - span.micros - back;
  made.rest := back * n - behind;
  made.hold := greatest(s.hold, f.micros + case when f.rest > 0 then 1 else 0 end);
  made.n := n;
  made.m := m;
  made.burst := burst;
  return made;
end $$;
create or replace function sluice_tb_look_v1(
  n bigint, m bigint, burst bigint, zero bigint, rest bigint, at bigint, now_us bigint,
  out remaining bigint, out replenish_after bigint, out reset_after bigint)
language plpgsql immutable strict as $$
declare
  span record;
  full_at bigint;
begin
  remaining := greatest(0, div((at - zero)::numeric * n - rest, m::numeric * 1000000));
  span := sluice_tb_span_v1(n, m, burst);
  full_at := zero + span.micros + (rest + span.rest + n - 1) / n;
  reset_after := case when full_at > at then full_at - now_us else 0 end;
  if (remaining + 1) * 1000000 > burst then
    replenish_after := reset_after;
  else
    span := sluice_tb_span_v1(n, m, (remaining + 1) * 1000000);
    replenish_after := zero + span.micros + (rest + span.rest + n - 1) / n - now_us;
  end if;
end $$;
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
` },
]
