-- Instant of the entry with which a sum was reached. The last entry's is the one that is given, for the table may not have it yet.
create function sluice_log_fits(
  log uuid, amount bigint, first bigint, tail bigint, newest bigint, kept_tail bigint, kept_total bigint
) returns bigint language plpgsql stable as $$
declare
  found_seq bigint;
begin
  if first >= tail or (tail > kept_tail and amount > kept_total) then
    return newest;
  end if;
  found_seq := sluice_log_through(log, amount, first, least(tail, kept_tail));
  return case when found_seq = tail then newest else (select e.at from sluice_log e where e.id = log and e.seq = found_seq) end;
end $$;
