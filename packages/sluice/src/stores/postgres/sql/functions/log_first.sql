-- Returns the number of the first entry from lo to hi that is later than `instant` or, if `instant` is null, before
-- which at least `amount` was charged; hi + 1 for none. Steps double, because the entry is most often near lo.
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
