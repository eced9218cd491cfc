-- Forgets one state whose row is locked: a block stays.
create function sluice_forget(which uuid) returns void language plpgsql volatile as $$
begin
  delete from sluice_state t where t.id = which and t.blocked_until is null;
  if not found then
    perform sluice_write(which, true, null, null, null, null, null, null, null);
  end if;
  delete from sluice_log e where e.id = which;
end $$;
