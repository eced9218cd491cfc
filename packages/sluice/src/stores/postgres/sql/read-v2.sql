-- The first part of sluice_consume_v2: locks and reads the rows, takes the time after the last lock, and says what was found.
  if charging and waiting = 1 and many > 1 then
    -- All by one statement, row by row in the order of the ids as well: a lateral subquery that locks stays what it is, so that each row
    -- is found by the index however small the table was when this was planned.
    for found_row in
      select x.place, k.* from unnest(ids) with ordinality as x (id, place) cross join lateral (
        select t.unit, t.a, t.b, t.c, t.d, t.hold, t.until from sluice_state t where t.id = x.id for update
      ) k
    loop
-- include: found-v2.sql
    end loop;
  elsif charging and waiting = 3 then
    for found_row in
      select x.place, k.* from unnest(ids) with ordinality as x (id, place) cross join lateral (
        select t.unit, t.a, t.b, t.c, t.d, t.hold, t.until from sluice_state t where t.id = x.id for update skip locked
      ) k
    loop
-- include: found-v2.sql
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
