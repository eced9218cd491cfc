-- Writes a state: a row that is there, or a new one. The numbers are in the kernel's order; zero is kept as null, which takes no room.
-- returns false where somebody else has made the row meanwhile
create function sluice_write(which uuid, stored boolean, of_kind int, of_unit bigint, a bigint, b bigint, c bigint, d bigint, held bigint)
returns boolean language plpgsql volatile as $$
declare
  bucket boolean := of_kind = 0;
  counted boolean := of_kind in (1, 2);
  logged boolean := of_kind = 3;
begin
  if stored then
    update sluice_state t set
      kind = of_kind, unit = of_unit,
      zero = case when bucket then a end, rest = case when bucket then nullif(b, 0) end, seen = case when bucket then nullif(c, 0) end,
      ends = case when counted then a end, current = case when counted then nullif(b, 0) end,
      previous = case when of_kind = 2 then nullif(c, 0) end, turn = case when of_kind = 1 then nullif(held, 0) end,
      absent = case when of_kind = 2 then nullif(held, 0) end,
      newest = case when logged then a end, charged = case when logged then nullif(b, 0) end, head = case when logged then nullif(c, 0) end,
      tail = case when logged then nullif(d, 0) end, hold = case when bucket or logged then nullif(held, 0) end
    where t.id = which;
    return true;
  end if;
  insert into sluice_state (id, kind, unit, zero, rest, seen, ends, current, previous, turn, absent, newest, charged, head, tail, hold)
  values (
    which, of_kind, of_unit, case when bucket then a end, case when bucket then nullif(b, 0) end, case when bucket then nullif(c, 0) end,
    case when counted then a end, case when counted then nullif(b, 0) end, case when of_kind = 2 then nullif(c, 0) end,
    case when of_kind = 1 then nullif(held, 0) end, case when of_kind = 2 then nullif(held, 0) end,
    case when logged then a end, case when logged then nullif(b, 0) end, case when logged then nullif(c, 0) end,
    case when logged then nullif(d, 0) end, case when bucket or logged then nullif(held, 0) end
  )
  on conflict (id) do nothing;
  return found;
end $$;
