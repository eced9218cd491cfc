-- Forgets states. Rows are locked in the order of their ids, as by everything else.
create function sluice_reset(ids uuid[]) returns void language plpgsql volatile as $$
declare
  which uuid;
begin
  foreach which in array ids loop
    perform from sluice_state t where t.id = which for update;
    if found then
      perform sluice_forget(which);
    end if;
  end loop;
end $$;
