-- What the previous window still counts for. own: the parts of a window that the plan counts in; 0 where the window is another's.
create function sluice_share(len bigint, own bigint, until_end bigint, previous bigint) returns bigint language plpgsql immutable as $$
declare
  quantum bigint := own;
  quanta bigint;
begin
  if previous = 0 then
    return 0;
  end if;
  if own = 0 then
    quantum := 1;
    while len > 1000000 * quantum loop
      quantum := quantum * 10;
    end loop;
  end if;
  quanta := len / quantum;
  return sluice_weighted(previous, least(quanta, (until_end + quantum - 1) / quantum), quanta);
end $$;
