-- Refuses standbys, and isolation levels other than READ COMMITTED: under those, a transaction that waited for a lock
-- would still see the tables as they were before.
create function sluice_regions_allowed() returns void language plpgsql stable as $$
begin
  if pg_is_in_recovery() then
    raise exception 'a standby has no run of its own' using errcode = '25006';
  elsif current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'rights of regions need transactions of READ COMMITTED, not of %',
      upper(current_setting('transaction_isolation')) using errcode = 'SL004';
  end if;
end $$;
