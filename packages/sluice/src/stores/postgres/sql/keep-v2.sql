-- Forgets one state whose row is locked: a block stays.
create function sluice_forget_v2(which uuid) returns void language plpgsql volatile as $$
begin
  delete from sluice_state t where t.id = which and t.until is null;
  if not found then
    update sluice_state t set unit = null, a = null, b = null, c = null, d = null, hold = null where t.id = which;
  end if;
  delete from sluice_log e where e.id = which;
end $$;

-- Forgets states. Rows are locked in the order of their ids, as by everything else.
create function sluice_reset_v2(ids uuid[]) returns void language plpgsql volatile as $$
declare
  which uuid;
begin
  foreach which in array ids loop
    perform from sluice_state t where t.id = which for update;
    if found then
      perform sluice_forget_v2(which);
    end if;
  end loop;
end $$;

-- Nothing passes for so many microseconds from now; -1 lifts the block.
create function sluice_block_v2(given bigint, duration bigint, ids uuid[]) returns void language plpgsql volatile as $$
declare
  which uuid;
begin
  foreach which in array ids loop
    perform from sluice_state t where t.id = which for update;
    if duration < 0 then
      delete from sluice_state t where t.id = which and t.unit is null;
      update sluice_state t set until = null where t.id = which and t.until is not null;
    else
      insert into sluice_state as t (id, until)
        values (which, duration + case when given = 0 then (extract(epoch from clock_timestamp()) * 1000000)::bigint else given end)
        on conflict (id) do update set until = excluded.until;
    end if;
  end loop;
end $$;

-- First instant from which a row decides like none.
create function sluice_fresh_v2(t sluice_state) returns bigint language sql stable as $$
  select greatest(
    coalesce(t.until, 0),
    case t.unit & 3
      when 0 then (
        select greatest(
          t.a + sluice_tb_whole_v1(p.n, p.m, p.burst) + (coalesce(t.b, 0) + sluice_tb_parts_v1(p.n, p.m, p.burst) + p.n - 1) / p.n,
          coalesce(t.c, 0) + coalesce(t.hold, 0)
        ) from sluice_plan p where p.unit = t.unit
      )
      when 1 then t.a
      when 2 then t.a + case when t.b > 0 then t.unit / 4 else 0 end
      when 3 then t.a + greatest(t.unit / 4, t.hold)
    end
  )
$$;

-- Deletes the rows that decide like none in some pages of the table; rows that are locked are left for another time.
-- returns how many rows went, and whether there are pages after these
create function sluice_sweep_v2(first_page bigint, pages bigint) returns bigint[] language plpgsql volatile as $$
declare
  now_us bigint := (extract(epoch from clock_timestamp()) * 1000000)::bigint;
  gone uuid[];
begin
  with late as (
    select t.id from sluice_state t
    where t.ctid >= format('(%s,0)', first_page)::tid and t.ctid < format('(%s,0)', first_page + pages)::tid
      and sluice_fresh_v2(t) <= now_us
    for update skip locked
  ), swept as (
    delete from sluice_state t using late where t.id = late.id returning t.id, t.unit
  )
  select array_agg(swept.id) into gone from swept;
  delete from sluice_log e where e.id = any(gone);
  return array[
    coalesce(cardinality(gone), 0),
    case when (first_page + pages) * current_setting('block_size')::bigint < pg_relation_size('sluice_state') then 1 else 0 end
  ];
end $$;
