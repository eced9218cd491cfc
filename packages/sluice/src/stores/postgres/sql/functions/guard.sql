-- Compares what a process knows of the shares of a region with what the database has, before a function decides by
-- them in the same statement. First it locks the rows of all states, as that function does; where there is no row it
-- takes a lock with which sluice_region cannot write one, and then one with which it cannot write the record. It holds
-- them until the transaction ends. Locks of the table would not do: a dump holds one for as long as it runs.
-- The setting keeps its statements from being planned for each call, which takes several times as long as they do.
--
-- locks         false for a peek
-- ids           the states of the call, each once, in their order
-- known_begins  names the record
-- shifted_us    the instant of the latest shift
-- cells         for each state that is decided by a share its row id; changes: the number of its rows, 0 for none; slots:
--               its index in ids (from 1), 0 where the region holds nothing of it; plans: the plan id of the share;
--               settled: from when on a state that is absent needs no settling
-- returns       null where the calls may be decided; else the indexes of the cells to read again (from 1), or 0 for the
--               record
create function sluice_guard(
  at_us bigint, locks boolean, ids uuid[], known_begins text, shifted_us bigint, cells uuid[], changes bigint[], slots int[],
  plans bigint[], settled bigint[]
) returns text language plpgsql volatile
set plan_cache_mode = force_generic_plan as $$
declare
  found_ids uuid[];
  plan_of bigint[];
  seen_of bigint[];
  plan bigint;
  seen bigint;
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
    for i in 1..cardinality(ids) loop
      continue when found_ids[i] is not null;
      perform pg_advisory_xact_lock_shared(uuid_hash_extended(ids[i], 'sluice_cell'::regclass::oid::bigint));
      -- Another decision may have inserted it. If it has it locked, it knew the same share.
      select t.plan_id, t.seen into plan, seen from sluice_state t where t.id = ids[i] for update skip locked;
      plan_of[i] := plan;
      seen_of[i] := seen;
    end loop;
    perform pg_advisory_xact_lock_shared(hashtextextended('sluice_region', 0));
  end if;
  return 'stale ' || case
    when exists (
      select from sluice_region r
        where sluice_same_run(r.started, r.xmin, r.written) and r.record is not null
          and r.mark || ' ' || r.changed || ' ' = known_begins
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
