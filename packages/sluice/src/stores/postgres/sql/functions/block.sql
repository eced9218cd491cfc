-- Nothing passes for so many microseconds from now; -1 lifts the block.
create function sluice_block(given bigint, duration bigint, ids uuid[]) returns void language plpgsql volatile as $$
declare
  which uuid;
begin
  foreach which in array ids loop
    perform from sluice_state t where t.id = which for update;
    if duration < 0 then
      delete from sluice_state t where t.id = which and t.unit is null;
      update sluice_state t set blocked_until = null where t.id = which and t.blocked_until is not null;
    else
      insert into sluice_state as t (id, blocked_until)
        values (which, duration + case when given = 0 then (extract(epoch from clock_timestamp()) * 1000000)::bigint else given end)
        on conflict (id) do update set blocked_until = excluded.blocked_until;
    end if;
  end loop;
end $$;
