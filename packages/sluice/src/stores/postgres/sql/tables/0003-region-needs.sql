-- What the callers of each process of a region need, for as long as the process runs (docs/decisions/0035): for each
-- key, how much they try to charge per second, and their largest cost. The table is unlogged, because an entry counts
-- for seconds only.
--
-- process  names the process
-- at       when it last published, in microseconds since 1970
-- entry    what its callers need, as JSON
create unlogged table sluice_need (
  process text primary key,
  at bigint not null,
  entry text not null
);
