-- Instant of the first entry from number `first` on with which the sum of the whole log reached `amount`. The stored
-- row `was` may lack the last entry.
create function sluice_log_fits(s sluice_state, was sluice_state, amount bigint, first bigint) returns bigint
language plpgsql stable as $$
declare
  found_seq bigint := s.tail;
begin
  if first < s.tail and (s.tail <= was.tail or amount <= was.charged) then
    found_seq := sluice_log_first(was.id, first + 1, least(s.tail, was.tail), null, amount) - 1;
  end if;
  return case
    when found_seq < s.tail then (select e.at from sluice_log e where e.id = was.id and e.seq = found_seq)
    else s.newest
  end;
end $$;
