-- A counter (window, end, current, previous, absent; null for none) with an amount given back, or below 0 taken: the kernel's adjust.
-- returns the state; null where it is as fresh as none
create function sluice_adjust_counter(state bigint[], plan bigint[], amount bigint, receipt bigint, now_us bigint) returns bigint[]
language plpgsql immutable as $$
declare
  burst bigint := plan[3];
  len bigint := plan[4];
  -- As it stands at this instant; where nothing comes of it the state stays what it was.
  own bigint := len;
  finish bigint := state[2];
  current bigint := 0;
  previous bigint := 0;
  absent bigint := 0;
  room bigint;
  part bigint;
begin
  if state is null or now_us >= finish + len then
    finish := sluice_aligned(len, now_us, 0);
  elsif now_us >= finish then
    own := state[1];
    finish := finish + len;
    previous := state[3];
  else
    own := state[1];
    current := state[3];
    previous := state[4];
    absent := state[5];
  end if;
  if amount < 0 then
    room := 2 * burst - current - sluice_share(own, case when own = len then plan[5] else 0 end, finish - now_us, previous);
    return case when room > 0 then array[own, finish, current + least(room, -amount), previous, absent] else state end;
  end if;
  if receipt >= 0 and receipt < finish - 2 * own then
    return state;
  end if;
  room := finish - own;
  part := case when receipt >= 0 and receipt < room then 0 else least(current, amount) end;
  current := current - part;
  amount := case when receipt >= room then 0 else least(previous, amount - part) end;
  previous := previous - amount;
  if part + amount = 0 then
    return state;
  end if;
  return case when current + previous > 0 then array[own, finish, current, previous, absent] end;
end $$;
