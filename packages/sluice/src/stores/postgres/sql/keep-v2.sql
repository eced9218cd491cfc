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

-- First instant from which a row decides like none; n, m, burst: of a bucket's plan. One expression, put in the place where it is used.
create function sluice_fresh_v2(
  unit bigint, a bigint, b bigint, c bigint, hold bigint, until bigint, n bigint, m bigint, burst bigint
) returns bigint language sql immutable as $$
  select greatest(until, case unit & 3
    when 0 then greatest(
      a + sluice_tb_whole_v1(n, m, burst) + (coalesce(b, 0) + sluice_tb_parts_v1(n, m, burst) + n - 1) / n, c + coalesce(hold, 0)
    )
    when 1 then sluice_fresh_at_v2(a, unit / 4, coalesce(hold, 0))
    when 2 then a + case when b > 0 then unit / 4 else 0 end
    when 3 then a + greatest(unit / 4, hold)
  end)
$$;

-- Deletes the rows that decide like none in some pages of the table; rows that are locked are left for another time.
-- returns how many rows went, and whether there are pages after these
create function sluice_sweep_v2(first_page bigint, pages bigint) returns bigint[] language plpgsql volatile as $$
declare
  now_us bigint := (extract(epoch from clock_timestamp()) * 1000000)::bigint;
  gone uuid[];
begin
  with late as (
    select t.id from sluice_state t left join sluice_plan p on p.unit = t.unit
    where t.ctid >= format('(%s,0)', first_page)::tid and t.ctid < format('(%s,0)', first_page + pages)::tid
      and (t.unit & 3 > 0 or t.unit is null or p.unit is not null)
      and sluice_fresh_v2(t.unit, t.a, t.b, t.c, t.hold, t.until, p.n, p.m, p.burst) <= now_us
    for update of t skip locked
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
