-- Brings the entries to what the state says. old_*: as the table has it.
create function sluice_log_write(
  log uuid, newest bigint, head bigint, tail bigint, old_newest bigint, old_total bigint, old_head bigint, old_tail bigint
) returns void language plpgsql volatile as $$
begin
  if tail > old_tail then
    insert into sluice_log (id, seq, at, base) values (log, tail, newest, old_total);
  elsif newest <> old_newest then
    update sluice_log e set at = newest where e.id = log and e.seq = tail;
  end if;
  if head > old_head then
    delete from sluice_log e where e.id = log and e.seq >= old_head and e.seq < head;
  end if;
end $$;
