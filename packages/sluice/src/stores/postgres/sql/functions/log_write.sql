-- was: the stored row.
create function sluice_log_write(s sluice_state, was sluice_state) returns void language plpgsql volatile as $$
begin
  if s.tail > coalesce(was.tail, 0) then
    insert into sluice_log (id, seq, at, base) values (s.id, s.tail, s.newest, coalesce(was.charged, 0));
  elsif s.newest <> was.newest then
    update sluice_log e set at = s.newest where e.id = s.id and e.seq = s.tail;
  end if;
  if s.head > was.head then
    delete from sluice_log e where e.id = s.id and e.seq >= was.head and e.seq < s.head;
  end if;
end $$;
