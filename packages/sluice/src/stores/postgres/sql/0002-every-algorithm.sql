-- All algorithms in one table of narrow rows, and functions that answer with what they found: the caller replays the kernels on it.
-- Once published this text is never changed: a later migration replaces functions under new names, so that two versions can serve at once.
--
-- id      the first 16 bytes of the SHA-256 of the state's name. unit: null where there is no state (a block alone); its two lowest
--         bits say the algorithm (0 bucket, 1 fixed window, 2 counter, 3 log), the others the window in microseconds, or for a bucket
--         the digest of its plan in sluice_plan.
-- a b c   bucket: zero, rest, seen. Fixed window: end, count. Counter: end, current, previous. Log: instant of the newest entry, what
--         was ever charged, number of the first entry; d: number of the last one. Nought is kept as null, which takes no room.
-- hold    bucket and log: docs/algorithms. Fixed window: turn, counter: absent (docs/decisions/0006). until: nothing passes before this instant.
create table sluice_state (
  id uuid primary key,
  unit bigint,
  a bigint,
  b bigint,
  c bigint,
  d bigint,
  hold bigint,
  until bigint
) with (fillfactor = 90);

create table sluice_plan (
  unit bigint primary key,
  n bigint not null,
  m bigint not null,
  burst bigint not null
);

-- Entries of logs. base: what was charged before this entry, so that a sum is a difference and a search is by halves.
create table sluice_log (
  id uuid,
  seq bigint,
  at bigint not null,
  base bigint not null,
  primary key (id, seq)
) with (fillfactor = 90);

-- include: windows-v2.sql

-- include: log-v2.sql

-- include: consume-v2.sql

-- include: bucket-v2.sql

-- include: buckets-v2.sql

-- include: adjust-v2.sql

-- include: keep-v2.sql

-- include: shim-v1.sql
