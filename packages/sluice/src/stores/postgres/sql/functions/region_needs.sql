-- Publishes what the callers of one process need from a region: for each key, charges tried per second, and the largest
-- cost. Returns what the region's other processes published, as JSON.
--
-- new_entry empty to remove the process's entry
-- keep_us   microseconds for which an entry counts
-- most      the most processes: one more publishes nothing
create function sluice_region_needs(own text, new_entry text, keep_us bigint, most bigint) returns text
language plpgsql volatile as $$
declare
  now_us bigint := sluice_now(0);
begin
  perform sluice_regions_allowed();
  -- Others' rows are locked only if they are free, so that two processes never wait for each other.
  if new_entry = '' then
    delete from sluice_need n where n.process = own;
  else
    -- An unchanged entry, which may be long, is not stored again.
    update sluice_need n set at = now_us where n.process = own and n.entry = new_entry;
    if not found then
      insert into sluice_need (process, at, entry) select own, now_us, new_entry
        where (select count(*) from sluice_need n where n.process <> own and abs(now_us - n.at) <= keep_us) < most
          or exists (select from sluice_need n where n.process = own)
        on conflict (process) do update set at = excluded.at, entry = excluded.entry;
    end if;
  end if;
  delete from sluice_need n using (
    select o.process from sluice_need o where o.process <> own and abs(now_us - o.at) > keep_us for update skip locked
  ) expired where n.process = expired.process;
  return (
    select coalesce(json_agg(n.entry), '[]')::text from sluice_need n
      where n.process <> own and abs(now_us - n.at) <= keep_us
  );
end $$;
