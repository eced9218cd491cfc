-- Gives back and takes without asking, as the kernels' adjust, call by call: each state is locked, changed to the plan's unit,
-- adjusted and written before the next one, in the order of the ids.
--
-- given     time in microseconds since 1970; 0 for the database's own clock, read once each row is locked
-- receipt   store time of the charge that is given back; -1 for none
-- ids       for each call its state
-- plans     for each call: kind, unit, numbers of its plan; eight in all, as for sluice_consume_v2
-- calls     for each call: amount in micro-tokens (below 0: taken), phase
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
          -- Penalties go to one burst under empty and not further, unless a change of the limit has left it deeper.
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
        -- As it stands at this instant (zero: end, rest: count, seen: window, hold: turn); kept where nothing comes of it.
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
        -- As it stands at this instant (zero: end, rest: current, seen: previous, hold: unit, n: absent); kept where nothing comes of it.
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
        -- Where somebody else made it meanwhile, it is adjusted as it is.
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

-- Takes an amount out of a log's entries later than an instant: out of the newest ones, or out of those from the receipt on.
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
