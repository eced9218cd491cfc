-- Reads, in one snapshot, the rows of cells (keys of a limit) that changed after a cursor, oldest changes first.
--
-- since    the number of a change; most: the most cells to return
-- returns  JSON: run (names this life of the database's data), time, the region's record, number of the last change,
--          for each cell the number of its change and its rows; an empty array until sluice_region has named the run
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
