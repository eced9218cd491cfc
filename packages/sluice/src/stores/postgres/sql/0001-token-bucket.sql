-- The table of token buckets and the function that decides. Once published this text is never changed: a later migration replaces
-- functions under new names, so that two versions of Sluice can serve at once. No function knows the table's own row type, and
-- every statement names its columns, so that a later migration can also add one.
--
-- State: the token bucket's numbers (algorithms/token-bucket.ts): zero, rest, seen, hold in microseconds and n-ths of one, and
-- n, m, burst of the plan that wrote it. until: the first instant (microseconds) from which the row decides like none.

create table sluice_tb (
  id text collate "C" primary key,
  zero bigint not null,
  rest bigint not null,
  seen bigint not null,
  hold bigint not null,
  n bigint not null,
  m bigint not null,
  burst bigint not null,
  until bigint not null
) with (fillfactor = 85);

-- include: token-bucket.sql

-- include: consume.sql
