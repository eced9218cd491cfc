-- Blocks states for `duration` microseconds from now; -1 ends their blocks.
create function sluice_block(at_us bigint, duration bigint, ids uuid[]) returns void language plpgsql volatile as $$
declare
  which uuid;
begin
  foreach which in array ids loop
    perform from sluice_state t where t.id = which for update;
    if duration < 0 then
      delete from sluice_state t where t.id = which and t.plan_id is null;
      update sluice_state t set blocked_until = null where t.id = which and t.blocked_until is not null;
    else
      insert into sluice_state (id, blocked_until) values (which, duration + sluice_now(at_us))
        on conflict (id) do update set blocked_until = excluded.blocked_until;
    end if;
  end loop;
end $$;
