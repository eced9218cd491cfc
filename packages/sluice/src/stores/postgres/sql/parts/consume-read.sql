-- The first part of sluice_consume: locks and reads the rows, takes the time after the last lock, and says what was found.
  -- Of several rows all by one statement, in the order of the ids as well: a lateral subquery that locks stays what it
  -- is, so that each row is found by the index however small the table was when this was planned.
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
        exit when found or not charging or waiting < 2;
        insert into sluice_state as t (id) values (ids[i]) on conflict (id) do nothing returning t.* into s;
        exit when found;
      end loop;
      states[i] := s;
    end loop;
  end if;
  if given = 0 then
    now_us := (extract(epoch from clock_timestamp()) * 1000000)::bigint;
  end if;
  was := states;

  reply[1] := now_us;
  place := 1 + cardinality(sizes);
  for i in 1..many loop
    s := was[i];
    if s.unit is not null then
      wanted := 8 * firsts[i] - 7;
      if s.kind <> plans[wanted] then
        raise exception 'a state is of kind %, where % is known', s.kind, plans[wanted] using errcode = 'SL002';
      elsif s.kind > 0 then
        reply[place + 2] := s.unit;
      elsif s.unit = plans[wanted + 1] then
        reply[place + 2] := firsts[i];
      else
        select foreign_plans || array[p.n, p.m, p.burst] into strict foreign_plans from sluice_plan p where p.unit = s.unit;
        reply[place + 2] := -cardinality(foreign_plans) / 3;
      end if;
      reply[place + 3] := coalesce(s.zero, s.ends, s.newest);
      reply[place + 4] := coalesce(s.rest, s.current, s.charged, 0);
      reply[place + 5] := coalesce(s.seen, s.previous, s.head, 0);
      reply[place + 6] := coalesce(s.hold, s.turn, s.absent, 0);
    end if;
    reply[place + 1] := coalesce(s.blocked_until, 0);
    place := place + 6;
  end loop;
