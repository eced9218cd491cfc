-- Publishes what the callers of one process need from a region: for each key, how much they try to charge per second,
-- and their largest cost. Returns what the callers of the region's other processes need.
--
-- own       names the process
-- new_entry what it publishes; empty to remove its entry
-- keep_us   for how many microseconds an entry counts
-- most      the most processes: one more publishes nothing
-- returns   JSON: what the other processes published, each as a text
create function sluice_region_needs(own text, new_entry text, keep_us bigint, most bigint) returns text
language plpgsql volatile as $$
declare
  now_us bigint := sluice_now(0);
begin
  perform sluice_regions_allowed();
  -- The process writes its own row first. It locks rows of others only if they are free. So two processes never wait
  -- for each other.
  if new_entry = '' then
    delete from sluice_need n where n.process = own;
  else
    -- If the entry is the same, only the time is written. So a long entry is not stored again.
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
