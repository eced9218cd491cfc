-- What the callers of each process of a region need (docs/decisions/0035), as JSON: for each key, charges tried per
-- second, and the largest cost. Unlogged, because an entry counts for seconds only.
--
-- at       when the process last published, in microseconds since 1970
create unlogged table sluice_need (
  process text primary key,
  at bigint not null,
  entry text not null
);
