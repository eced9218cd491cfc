-- Updates rows of all algorithms but the sliding-window log. For few rows sluice_write is faster. The settings prevent
-- scans of the table, and planning anew for each number of rows.
create function sluice_write_rows(rows_of sluice_state[]) returns void language plpgsql volatile
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off
set enable_mergejoin = off as $$
begin
  update sluice_state t set
      kind = s.kind, plan_id = s.plan_id, zero = s.zero, rest = nullif(s.rest, 0), seen = s.seen, ends = s.ends,
      current = nullif(s.current, 0), previous = nullif(s.previous, 0), turn = nullif(s.turn, 0), absent = s.absent,
      keep_for = nullif(s.keep_for, 0), state = s.state
    from unnest(rows_of) s where t.id = s.id;
end $$;
