-- Runs before a function that decides by a region's shares (parts of limits), in the same statement. It compares what
-- the caller knows of the shares with the rows of the cells (keys of limits), and the record (table sluice_region).
-- Until the transaction ends, it takes these locks, in this order:
-- - the rows of all states
-- - for a state without a row, a lock that keeps the function sluice_region from inserting the row
-- - a lock that keeps the function sluice_region from writing the record
-- Every table is read by an index: with some callers' settings, a scan would seem so costly that the server compiles
-- the plan (JIT). Without plan_cache_mode, planning for each call would take several times as long as running.
--
-- locks         false for a peek
-- known_mark    the run (life of the database's data) that the caller knows; known_changed: the number of the record's
--               last change that the caller knows
-- shifted_us    when the region's units (thousandths of limits) of all cells last changed
-- cells         row ids of the states decided by shares. For each: changes, the number of its rows' last change, 0 for
--               none; slots, its index in ids (from 1), 0 if the region holds nothing of it; plans, the share's plan
--               id; settled, from when on a bucket without a row is full
-- returns       null if the calls may be decided. Otherwise `stale` and the indexes, from 1, of the cells that must be
--               read again, or 0 for the record
create function sluice_guard(
  at_us bigint, locks boolean, ids uuid[], known_mark uuid, known_changed bigint, shifted_us bigint, cells uuid[],
  changes bigint[], slots int[], plans bigint[], settled bigint[]
) returns text language plpgsql volatile
set plan_cache_mode = force_generic_plan as $$
declare
  found_ids uuid[];
  plan_of bigint[];
  seen_of bigint[];
  plan bigint;
  seen bigint;
  i int;
begin
  if pg_is_in_recovery() or current_setting('transaction_isolation') <> 'read committed' then
    perform sluice_regions_allowed();
  end if;
  if not locks then
    select array_agg(k.plan_id), array_agg(k.seen) into plan_of, seen_of from unnest(ids) as x (id)
      left join lateral (select t.plan_id, t.seen from sluice_state t where t.id = x.id offset 0) k on true;
  else
    select array_agg(k.id), array_agg(k.plan_id), array_agg(k.seen) into found_ids, plan_of, seen_of
      from unnest(ids) as x (id)
      left join lateral (select t.id, t.plan_id, t.seen from sluice_state t where t.id = x.id for update) k on true;
    while array_position(found_ids, null) is not null loop
      i := array_position(found_ids, null);
      found_ids[i] := ids[i];
      perform pg_advisory_xact_lock_shared(uuid_hash_extended(ids[i], 'sluice_cell'::regclass::oid::bigint));
      -- Skips a row that another decision has just inserted and still locks. The lock above keeps sluice_region from
      -- changing the state.
      select t.plan_id, t.seen into plan, seen from sluice_state t where t.id = ids[i] for update skip locked;
      plan_of[i] := plan;
      seen_of[i] := seen;
    end loop;
    perform pg_advisory_xact_lock_shared(hashtextextended('sluice_region', 0));
  end if;
  return 'stale ' || case
    when exists (
      select from sluice_region r
        where r.one and r.changed = known_changed and r.mark = known_mark and r.record is not null
          and sluice_same_run(r.started, r.xmin, r.written)
    ) then (
      select string_agg(x.nth::text, ',')
        from unnest(cells, changes, slots, plans, settled) with ordinality as x (id, change, slot, plan_id, settled_us, nth)
        where coalesce((select c.change from sluice_cell c where c.id = x.id), 0) <> x.change
          or (x.slot > 0 and case
            when plan_of[x.slot] is null then sluice_now(at_us) < x.settled_us
            else plan_of[x.slot] <> x.plan_id or seen_of[x.slot] < shifted_us
          end)
    )
    else '0'
  end;
end $$;
