-- Microseconds since 1970: at_us, or the database's clock if at_us is 0. Decisions call it after the rows are locked.
create function sluice_now(at_us bigint) returns bigint language sql volatile as $$
  select case when at_us = 0 then (extract(epoch from clock_timestamp()) * 1000000)::bigint else at_us end
$$;
