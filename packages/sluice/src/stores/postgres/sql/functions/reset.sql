-- Deletes states, but not the blocks of their keys.
create function sluice_reset(ids uuid[]) returns void language plpgsql volatile as $$
declare
  s sluice_state;
begin
  foreach s.id in array ids loop
    perform from sluice_state t where t.id = s.id for update;
    continue when not found;
    delete from sluice_state t where t.id = s.id and t.blocked_until is null;
    if not found then
      perform sluice_write(s, true);
    end if;
    delete from sluice_log e where e.id = s.id;
  end loop;
end $$;
