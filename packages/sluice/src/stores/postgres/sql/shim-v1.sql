-- Processes of the first version go on, on the same states: theirs are moved here, and their function borrows the states for each call.
-- A block, which it does not know, is to it a bucket that is empty until then. (What such a process resets while it is being
-- replaced stays: it deletes from a table that is empty now.)

create function sluice_id_v2(name text) returns uuid language sql immutable as $$
  select left(encode(sha256(convert_to(name, 'UTF8')), 'hex'), 32)::uuid
$$;

create function sluice_unit_v2(n bigint, m bigint, burst bigint) returns bigint language sql immutable as $$
  select ('x0' || left(encode(sha256(convert_to(n || ' ' || m || ' ' || burst, 'UTF8')), 'hex'), 15))::bit(64)::bigint * 4
$$;

create function sluice_return_v1(names text[]) returns void language plpgsql volatile as $$
begin
  insert into sluice_plan (unit, n, m, burst)
    select distinct sluice_unit_v2(t.n, t.m, t.burst), t.n, t.m, t.burst from sluice_tb t where t.id = any(names) and t.n > 0 order by 1
    on conflict do nothing;
  insert into sluice_state as s (id, unit, a, b, c, hold)
    select sluice_id_v2(t.id), sluice_unit_v2(t.n, t.m, t.burst), t.zero, nullif(t.rest, 0), t.seen, nullif(t.hold, 0)
    from sluice_tb t where t.id = any(names) and t.n > 0 order by 1
    on conflict (id) do update set unit = excluded.unit, a = excluded.a, b = excluded.b, c = excluded.c, hold = excluded.hold;
  delete from sluice_tb t where t.id = any(names);
end $$;

-- A call that waits here for its row goes on with the old text: it is refused with 40001, and its next try finds the new one.
create function sluice_guard_v1() returns trigger language plpgsql volatile as $$
begin
  if coalesce(current_setting('sluice.borrowed', true), '') <> 'on' then
    raise exception 'sluice has been migrated meanwhile' using errcode = '40001';
  end if;
  return null;
end $$;

lock table sluice_tb in access exclusive mode;

select sluice_return_v1(array(select t.id from sluice_tb t));

create trigger sluice_guard_v1 before insert on sluice_tb for each statement execute function sluice_guard_v1();

alter function sluice_consume_v1(bigint, boolean, text[], int[], bigint[]) rename to sluice_borrow_v1;

create function sluice_consume_v1(given bigint, charging boolean, ids text[], sizes int[], calls bigint[])
returns bigint[] language plpgsql volatile as $$
declare
  now_us bigint := given;
  name text;
  which uuid;
  call int;
  row_of sluice_state;
  free text[] := '{}';
  reply bigint[];
begin
  perform set_config('sluice.borrowed', 'on', true);
  for name, which in select x.name, sluice_id_v2(x.name) from unnest(ids) as x (name) order by 2 loop
    if charging then
      loop
        select * into row_of from sluice_state t where t.id = which for update;
        exit when found;
        insert into sluice_state (id) values (which) on conflict (id) do nothing;
      end loop;
    else
      select * into row_of from sluice_state t where t.id = which;
    end if;
    if given = 0 then
      now_us := (extract(epoch from clock_timestamp()) * 1000000)::bigint;
    end if;
    if row_of.until > now_us then
      call := (select x.place from unnest(calls) with ordinality as x (number, place) where x.place % 5 = 1 and ids[x.number] = name limit 1);
      insert into sluice_tb (id, zero, rest, seen, hold, n, m, burst, until)
        values (name, row_of.until, 0, 0, 0, calls[call + 2], calls[call + 3], calls[call + 4], 0);
    else
      free := free || name;
      if row_of.unit is not null then
        insert into sluice_tb (id, zero, rest, seen, hold, n, m, burst, until)
          select name, row_of.a, coalesce(row_of.b, 0), coalesce(row_of.c, 0), coalesce(row_of.hold, 0), p.n, p.m, p.burst, 0
          from sluice_plan p where p.unit = row_of.unit;
      end if;
    end if;
  end loop;
  reply := sluice_borrow_v1(given, charging, ids, sizes, calls);
  if charging then
    perform sluice_return_v1(free);
    delete from sluice_state t where t.id = any(array(select sluice_id_v2(x.name) from unnest(ids) as x (name))) and t.unit is null and t.until is null;
  end if;
  delete from sluice_tb t where t.id = any(ids);
  perform set_config('sluice.borrowed', 'off', true);
  return reply;
end $$;
