// Made from the programs beside this file by `npm run generate`; edit those, not this.

export const migrations: readonly { readonly name: string; readonly sha256: string; readonly source: string }[] = [
  { name: '0001-token-bucket', sha256: 'c60e77c5739e6c3ef137230eee7e5e9e9f4d2e84e0e3f059b1c373133a84bc4c', source: `create table sluice_tb (
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
  micro bigint;
  part numeric;
  behind bigint;
  back bigint;
  parts bigint;
begin
  if greatest(s.zero + full_whole + (s.rest + full_parts + s.n - 1) / s.n, case when s.hold > 0 then s.seen + s.hold end) <= at then
    return null;
  end if;
  level := least((at - s.zero)::numeric * s.n - s.rest, s.burst::numeric * s.m);
  micro := greatest(0, div(level, s.m));
  part := greatest(0, level - micro::numeric * s.m);
  if micro >= burst then
    micro := burst;
    part := 0;
  end if;
  parts := sluice_tb_parts_v1(n, m, micro);
  behind := parts % n + div(part * m, s.m);
  back := (behind + n - 1) / n;
  s.zero := at - sluice_tb_whole_v1(n, m, micro) - parts / n - back;
  s.rest := back * n - behind;
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
]
