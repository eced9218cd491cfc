-- Whether a row of sluice_region is of this run of the server: it was written after the server started, and it was not
-- restored from a dump. The function is one expression, so that the planner can inline it.
create function sluice_same_run(started timestamptz, writer xid, written bigint) returns boolean language sql stable as $$
  select started = pg_postmaster_start_time() and writer::text::bigint = written
$$;
