-- Finds the first entry, among those with the numbers lo to hi, that is later than `instant`. If `instant` is null,
-- finds the first entry before which at least `amount` was charged. Returns its number, or hi + 1 if no entry is. The
-- entry is most often near lo. So the search doubles its steps until a step passes the entry.
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
