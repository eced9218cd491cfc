-- Does the same as sluice_guard for one state and one cell, which is the call of a busy key, in fewer and simpler
-- statements. The locks, their order and what is compared must be those of sluice_guard.
--
-- which         the state
-- cell          the row id of the state that is decided by a share: which, or another if the region holds nothing of it
-- known_change  the number of the last change of the cell's rows, 0 if it has none
-- share_id      the plan id of the share, 0 if the region holds nothing of it
-- settled_us    from when on an absent state needs no settling
create function sluice_guard_one(
  at_us bigint, which uuid, known_begins text, shifted_us bigint, cell uuid, known_change bigint, share_id bigint,
  settled_us bigint
) returns text language plpgsql volatile as $$
declare
  plan bigint;
  seen_us bigint;
  changed bigint;
begin
  if pg_is_in_recovery() or current_setting('transaction_isolation') <> 'read committed' then
    perform sluice_regions_allowed();
  end if;
  select t.plan_id, t.seen into plan, seen_us from sluice_state t where t.id = which for update;
  if not found then
    perform pg_advisory_xact_lock_shared(uuid_hash_extended(which, 'sluice_cell'::regclass::oid::bigint));
    select t.plan_id, t.seen into plan, seen_us from sluice_state t where t.id = which for update skip locked;
  end if;
  perform pg_advisory_xact_lock_shared(hashtextextended('sluice_region', 0));
  select coalesce(c.change, 0) into changed from sluice_region r left join sluice_cell c on c.id = cell
    where sluice_same_run(r.started, r.xmin, r.written) and r.record is not null
      and r.mark || ' ' || r.changed || ' ' = known_begins;
  if not found then
    return 'stale 0';
  elsif changed <> known_change then
    return 'stale 1';
  elsif share_id = 0 then
    return null;
  elsif plan is null then
    return case when sluice_now(at_us) < settled_us then 'stale 1' end;
  end if;
  return case when plan <> share_id or seen_us < shifted_us then 'stale 1' end;
end $$;
