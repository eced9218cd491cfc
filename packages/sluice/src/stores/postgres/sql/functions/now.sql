-- Microseconds since 1970: the database's clock where 0 is given. Called once the rows are locked.
create function sluice_now(given bigint) returns bigint language sql volatile as $$
  select case when given = 0 then (extract(epoch from clock_timestamp()) * 1000000)::bigint else given end
$$;
