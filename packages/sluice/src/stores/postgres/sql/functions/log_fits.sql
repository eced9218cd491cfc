-- Instant of the entry with which a sum was reached. was: as the table has it, which may lack the last entry.
create function sluice_log_fits(
  was sluice_state, amount bigint, first bigint, tail bigint, newest bigint
) returns bigint language plpgsql stable as $$
declare
  found_seq bigint := tail;
begin
  if first < tail and (tail <= was.tail or amount <= was.charged) then
    found_seq := sluice_log_first(was.id, first + 1, least(tail, was.tail), null, amount) - 1;
  end if;
  return case
    when found_seq < tail then (select e.at from sluice_log e where e.id = was.id and e.seq = found_seq)
    else newest
  end;
end $$;
