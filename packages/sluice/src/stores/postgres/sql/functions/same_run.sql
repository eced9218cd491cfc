-- Whether a row of sluice_region was written since the server started, and not restored from a dump. One expression, so
-- that the planner can inline it.
create function sluice_same_run(started timestamptz, writer xid, written bigint) returns boolean language sql stable as $$
  select started = pg_postmaster_start_time() and writer::text::bigint = written
$$;
