-- The first part of sluice_consume: locks and reads the rows, takes the time after the last lock, and says what was found.
  if charging and many > 1 and waiting in (1, 3) then
    -- All by one statement, row by row in the order of the ids as well: a lateral subquery that locks stays what it is, so that each row
    -- is found by the index however small the table was when this was planned.
    if waiting = 1 then
      select array_agg(x.place), array_agg(k.kind), array_agg(k.unit), array_agg(k.a), array_agg(k.b), array_agg(k.c), array_agg(k.d),
          array_agg(k.hold), array_agg(k.until)
        into places, kinds, units, as_found, bs_found, cs_found, ds_found, holds, untils
        from unnest(ids) with ordinality as x (id, place) cross join lateral (
          select t.kind, t.unit, coalesce(t.zero, t.ends, t.newest) as a, coalesce(t.rest, t.current, t.charged, 0) as b,
            coalesce(t.seen, t.previous, t.head, 0) as c, coalesce(t.tail, 0) as d, coalesce(t.hold, t.turn, t.absent, 0) as hold,
            coalesce(t.blocked_until, 0) as until
          from sluice_state t where t.id = x.id for update
        ) k;
    else
      select array_agg(x.place), array_agg(k.kind), array_agg(k.unit), array_agg(k.a), array_agg(k.b), array_agg(k.c), array_agg(k.d),
          array_agg(k.hold), array_agg(k.until)
        into places, kinds, units, as_found, bs_found, cs_found, ds_found, holds, untils
        from unnest(ids) with ordinality as x (id, place) cross join lateral (
          select t.kind, t.unit, coalesce(t.zero, t.ends, t.newest) as a, coalesce(t.rest, t.current, t.charged, 0) as b,
            coalesce(t.seen, t.previous, t.head, 0) as c, coalesce(t.tail, 0) as d, coalesce(t.hold, t.turn, t.absent, 0) as hold,
            coalesce(t.blocked_until, 0) as until
          from sluice_state t where t.id = x.id for update skip locked
        ) k;
    end if;
    for i in 1..coalesce(cardinality(places), 0) loop
      place := places[i];
      stored[place] := true;
      kind_of[place] := kinds[i];
      unit_of[place] := units[i];
      a_of[place] := as_found[i];
      b_of[place] := bs_found[i];
      c_of[place] := cs_found[i];
      d_of[place] := ds_found[i];
      hold_of[place] := holds[i];
      until_of[place] := untils[i];
    end loop;
  else
    for i in 1..many loop
      loop
        if not charging then
          select t.kind, t.unit, coalesce(t.zero, t.ends, t.newest) as a, coalesce(t.rest, t.current, t.charged) as b,
              coalesce(t.seen, t.previous, t.head) as c, t.tail as d, coalesce(t.hold, t.turn, t.absent) as hold, t.blocked_until as until
            into row_of from sluice_state t where t.id = ids[i];
        else
          select t.kind, t.unit, coalesce(t.zero, t.ends, t.newest) as a, coalesce(t.rest, t.current, t.charged) as b,
              coalesce(t.seen, t.previous, t.head) as c, t.tail as d, coalesce(t.hold, t.turn, t.absent) as hold, t.blocked_until as until
            into row_of from sluice_state t where t.id = ids[i] for update;
        end if;
        stored[i] := found;
        exit when found or not charging or waiting < 2;
        insert into sluice_state (id) values (ids[i]) on conflict (id) do nothing;
        stored[i] := found;
        placed := placed or found;
        exit when found;
      end loop;
      kind_of[i] := row_of.kind;
      unit_of[i] := row_of.unit;
      a_of[i] := row_of.a;
      b_of[i] := coalesce(row_of.b, 0);
      c_of[i] := coalesce(row_of.c, 0);
      d_of[i] := coalesce(row_of.d, 0);
      hold_of[i] := coalesce(row_of.hold, 0);
      until_of[i] := coalesce(row_of.until, 0);
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
      kind := plans[wanted - 1];
      if kind_of[i] <> kind then
        raise exception 'a state is of kind %, where % is known', kind_of[i], kind using errcode = 'SL002';
      end if;
      if kind > 0 then
        reply[place + 2] := unit;
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
