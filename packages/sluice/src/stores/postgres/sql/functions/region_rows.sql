-- Reads, in one snapshot, the rows of a region's cells that changed after a cursor, oldest changes first. A cell is one
-- key of one limit, in all regions. A run is one life of the database's data.
--
-- since    the cursor: the number of a change; most: the most cells to return
-- returns  JSON: run, time, record, number of the last change, and for each cell the number of its change and its rows;
--          an empty array if the server is in no run yet
create function sluice_region_rows(at_us bigint, since bigint, most bigint) returns text language plpgsql volatile as $$
begin
  perform sluice_regions_allowed();
  return coalesce((
    select json_build_array(r.mark, sluice_now(at_us), r.record, r.changes, (
        select coalesce(json_agg(json_build_array(n.change, n.content) order by n.change), '[]') from (
          select c.change, c.content from sluice_cell c where c.change > since order by c.change limit most
        ) n
      ))
      from sluice_region r where sluice_same_run(r.started, r.xmin, r.written)
  )::text, '[]');
end $$;
