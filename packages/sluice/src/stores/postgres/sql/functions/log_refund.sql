-- Takes an amount out of the entries later than `since`. With a receipt (a charge's instant), entries from there on are
-- reduced, oldest first; without (-1), newest first. Null if no entry is left.
create function sluice_log_refund(s sluice_state, since bigint, amount bigint, receipt bigint) returns sluice_state
language plpgsql volatile as $$
declare
  ats bigint[];
  costs bigint[];
begin
  if s.newest <= since or s.newest < receipt or receipt between 0 and since then
    return s;
  end if;
  with entries as (
    select l.seq, l.at, lead(l.base, 1, s.charged) over (order by l.seq) - l.base as cost
      from sluice_log l where l.id = s.id
  ), eligible as (
    select e.seq, least(e.cost, greatest(0, amount + e.cost - sum(e.cost) over (order by o.ordinal))) as refunded
      from entries e, lateral (select case when receipt < 0 then -e.seq else e.seq end as ordinal) o
      where e.at > since and e.at >= receipt
  ), kept as (
    select e.seq, e.at, (e.cost - coalesce(o.refunded, 0))::bigint as cost
      from entries e left join eligible o on o.seq = e.seq
  )
  select array_agg(k.at order by k.seq), array_agg(k.cost order by k.seq) into ats, costs from kept k where k.cost > 0;
  delete from sluice_log l where l.id = s.id;
  insert into sluice_log (id, seq, at, base)
    select s.id, e.ordinal, e.at, sum(e.cost) over (order by e.ordinal) - e.cost
      from unnest(ats, costs) with ordinality as e (at, cost, ordinal);
  s.tail := cardinality(ats);
  s.newest := ats[s.tail];
  s.charged := (select sum(c) from unnest(costs) c);
  s.head := 1;
  return case when s.tail > 0 then s end;
end $$;
