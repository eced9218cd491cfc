-- The last part of sluice_consume: writes what has changed.
    -- New states are made first: where another transaction has inserted one meanwhile, nothing is charged. A new row is
    -- written once, as it stays: one that only held the place would leave a dead row beside every key.
    for i in 1..many loop
      continue when not changed[i];
      s := states[i];
      if s.kind = 0 and s.unit is distinct from (was[i]).unit and s.unit <> all (known) then
        known := known || s.unit;
        insert into sluice_plan (unit, n, m, burst)
          select s.unit, plans[8 * p - 5], plans[8 * p - 4], plans[8 * p - 3]
            from generate_series(1, cardinality(plans) / 8) p where plans[8 * p - 7] = 0 and plans[8 * p - 6] = s.unit
          on conflict do nothing;
      end if;
      if (was[i]).id is null and not sluice_write(s, false) then
        delete from sluice_state t using generate_series(1, i - 1) k
          where t.id = ids[k] and changed[k] and (was[k]).id is null;
        return null;
      end if;
    end loop;
    for i in 1..many loop
      continue when not changed[i];
      s := states[i];
      if (was[i]).id is not null then
        perform sluice_write(s, true);
      end if;
      if s.kind = 3 then
        perform sluice_log_write(s, was[i]);
      end if;
    end loop;
    if waiting = 2 then
      delete from sluice_state t where t.id = any(ids) and t.unit is null and t.blocked_until is null;
    end if;
