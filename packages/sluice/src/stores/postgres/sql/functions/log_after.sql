-- First entry from lo to hi that is later than an instant; hi + 1 where none is.
create function sluice_log_after(log uuid, instant bigint, lo bigint, hi bigint) returns bigint language plpgsql stable as $$
declare
  step bigint := 1;
  probe bigint := lo;
  found_at bigint;
begin
  while lo <= hi loop
    select e.at into strict found_at from sluice_log e where e.id = log and e.seq = probe;
    if found_at > instant then
      hi := probe - 1;
      step := 0;
    else
      lo := probe + 1;
      step := step * 2;
    end if;
    probe := case when step = 0 or lo + step > hi then (lo + hi) / 2 else lo + step - 1 end;
  end loop;
  return lo;
end $$;
