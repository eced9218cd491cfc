-- Last entry from lo to hi before which less than a sum was charged; lo where there is none.
create function sluice_log_through(log uuid, amount bigint, lo bigint, hi bigint) returns bigint language plpgsql stable as $$
declare
  step bigint := 1;
  best bigint := lo;
  probe bigint := lo + 1;
  found_base bigint;
begin
  lo := lo + 1;
  while lo <= hi loop
    select e.base into strict found_base from sluice_log e where e.id = log and e.seq = probe;
    if found_base < amount then
      best := probe;
      lo := probe + 1;
      step := step * 2;
    else
      hi := probe - 1;
      step := 0;
    end if;
    probe := case when step = 0 or lo + step > hi then (lo + hi) / 2 else lo + step - 1 end;
  end loop;
  return best;
end $$;
