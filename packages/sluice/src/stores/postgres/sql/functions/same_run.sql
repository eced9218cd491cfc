-- Whether a row of sluice_region is of this run of the server: written since it was started, and not restored from a
-- dump. One expression, which the planner puts in the place where it is used.
create function sluice_same_run(started timestamptz, writer xid, written bigint) returns boolean language sql stable as $$
  select started = pg_postmaster_start_time() and writer::text::bigint = written
$$;
