-- Once released, this text is never changed: later migrations add columns, so statements name their columns.
--
-- id             the first 16 bytes of the SHA-256 of the state's name
-- kind           0 token bucket, 1 fixed window, 2 sliding window counter, 3 sliding window log, 4 any other algorithm;
--                null for a block alone
-- plan_id        names the limit that wrote the state: of a bucket its id in sluice_plan, of windows and logs the
--                window in microseconds, of any other algorithm 0; null without a state
-- zero rest seen bucket: when it was last empty, in microseconds and n-ths of one (n: of its plan), and the latest time
--                of a call
-- ends           window, counter: end of the current window; kind 4: when the state equals the initial one
-- current        window, counter: micro-tokens charged in it
-- previous       counter: micro-tokens charged in the window before
-- turn           window: how much of the limit was used, or which limits of different lengths were called (sluice_turn)
-- absent         counter: 1 if the longer of two limits was not called in the current window yet (docs/decisions/0006)
-- newest charged log: instant of the newest entry, micro-tokens ever charged
-- head tail      log: numbers of the first and the last entry
-- keep_for       bucket, log: for how long an earlier, longer limit still needs the state (docs/algorithms)
-- state          kind 4: the state's numbers as text
-- blocked_until  nothing passes before this instant
-- Instants are microseconds since 1970. In rest, current, previous, turn and keep_for, a zero is stored as null.
create table sluice_state (
  id uuid primary key,
  plan_id bigint,
  zero bigint,
  rest bigint,
  seen bigint,
  ends bigint,
  current bigint,
  previous bigint,
  turn bigint,
  absent bigint,
  newest bigint,
  charged bigint,
  head bigint,
  tail bigint,
  keep_for bigint,
  blocked_until bigint,
  kind smallint,
  state bytea
) with (fillfactor = 90);

-- Plans of buckets; plan_id: the first 60 bits of the SHA-256 of the numbers.
create table sluice_plan (
  plan_id bigint primary key,
  n bigint not null,
  m bigint not null,
  burst bigint not null
);

-- base: the micro-tokens charged before this entry, so that sums are differences and a binary search works.
create table sluice_log (
  id uuid,
  seq bigint,
  at bigint not null,
  base bigint not null,
  primary key (id, seq)
) with (fillfactor = 90);
