-- The last part of sluice_consume: writes what has changed.
    -- New states are made first: where somebody else made one meanwhile, nothing is charged. A new row is written once, as it stays: one
    -- that only held the place would leave a dead row beside every key.
    for i in 1..many loop
      continue when not changed[i] or (stored[i] and unit_of[i] = old_unit[i]);
      kind := plans[8 * firsts[i] - 7];
      for p in 1..cardinality(known) loop
        if kind = 0 and plans[8 * p - 6] = unit_of[i] and plans[8 * p - 7] = 0 and not known[p] then
          insert into sluice_plan (unit, n, m, burst) values (unit_of[i], plans[8 * p - 5], plans[8 * p - 4], plans[8 * p - 3])
            on conflict do nothing;
          known[p] := true;
        end if;
      end loop;
      continue when stored[i];
      if not sluice_write(ids[i], false, kind, unit_of[i], a_of[i], b_of[i], c_of[i], d_of[i], hold_of[i]) then
        for k in 1..i - 1 loop
          if changed[k] and not stored[k] then
            delete from sluice_state t where t.id = ids[k];
          end if;
        end loop;
        return null;
      end if;
    end loop;
    for i in 1..many loop
      continue when not changed[i];
      kind := plans[8 * firsts[i] - 7];
      if stored[i] then
        perform sluice_write(ids[i], true, kind, unit_of[i], a_of[i], b_of[i], c_of[i], d_of[i], hold_of[i]);
      end if;
      if kind = 3 then
        perform sluice_log_write(ids[i], a_of[i], c_of[i], d_of[i], coalesce(old_a[i], 0), old_b[i], old_c[i], old_d[i]);
      end if;
    end loop;
    if placed then
      delete from sluice_state t where t.id = any(ids) and t.unit is null and t.blocked_until is null;
    end if;
