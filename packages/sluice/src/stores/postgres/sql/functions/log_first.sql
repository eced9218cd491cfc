-- First entry from lo to hi that is later than an instant or, if that is null, before which an amount was charged;
-- hi + 1 where there is none. The steps double until the entry is passed: most often it is near lo.
create function sluice_log_first(log uuid, lo bigint, hi bigint, instant bigint, amount bigint) returns bigint
language plpgsql stable as $$
declare
  step bigint := 1;
  probe bigint := lo;
  passed boolean;
begin
  while lo <= hi loop
    select coalesce(e.at > instant, e.base >= amount) into strict passed
      from sluice_log e where e.id = log and e.seq = probe;
    if passed then
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
