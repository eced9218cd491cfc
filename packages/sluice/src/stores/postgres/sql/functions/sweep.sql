-- Deletes rows that expired at least two seconds ago, in some pages of the table. Sooner, a caller could read before
-- the row is inserted, write after it is deleted, and take the state for unchanged. Keys in sluice_cell are kept:
-- without units (parts of the limit) a bucket is not refilled, so its debt must not be forgotten. Returns how many rows
-- were deleted, and 1 if pages follow, else 0.
create function sluice_sweep(first_page bigint, pages bigint) returns bigint[] language plpgsql volatile as $$
declare
  now_us bigint := sluice_now(0);
  gone uuid[];
begin
  with expired as (
    select t.id from sluice_state t left join sluice_plan p on p.plan_id = t.plan_id
    where t.ctid >= format('(%s,0)', first_page)::tid and t.ctid < format('(%s,0)', first_page + pages)::tid
      and (t.kind > 0 or t.kind is null or p.plan_id is not null)
      and sluice_fresh(t, p.n, p.m, p.burst) <= now_us - 2000000
      and not exists (select from sluice_cell c where c.id = t.id)
    for update of t skip locked
  ), swept as (
    delete from sluice_state t using expired where t.id = expired.id returning t.id
  )
  select array_agg(swept.id) into gone from swept;
  delete from sluice_log e where e.id = any(gone);
  return array[
    coalesce(cardinality(gone), 0),
    ((first_page + pages) * current_setting('block_size')::bigint < pg_relation_size('sluice_state'))::int
  ];
end $$;
