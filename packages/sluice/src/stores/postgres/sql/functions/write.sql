-- Zeros are stored as null in columns that are often 0, because null takes no space. Returns false if another
-- transaction has inserted the row.
create function sluice_write(s sluice_state, stored boolean) returns boolean language plpgsql volatile as $$
begin
  if stored then
    update sluice_state t set
        kind = s.kind, plan_id = s.plan_id, zero = s.zero, rest = nullif(s.rest, 0), seen = s.seen, ends = s.ends,
        current = nullif(s.current, 0), previous = nullif(s.previous, 0), turn = nullif(s.turn, 0), absent = s.absent,
        newest = s.newest, charged = s.charged, head = s.head, tail = s.tail, keep_for = nullif(s.keep_for, 0),
        state = s.state
      where t.id = s.id;
    return true;
  end if;
  insert into sluice_state (
      id, kind, plan_id, zero, rest, seen, ends, current, previous, turn, absent, newest, charged, head, tail, keep_for, state
    ) values (
      s.id, s.kind, s.plan_id, s.zero, nullif(s.rest, 0), s.seen, s.ends, nullif(s.current, 0), nullif(s.previous, 0),
      nullif(s.turn, 0), s.absent, s.newest, s.charged, s.head, s.tail, nullif(s.keep_for, 0), s.state
    ) on conflict (id) do nothing;
  return found;
end $$;
