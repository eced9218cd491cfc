-- Takes an amount out of a log's entries later than an instant: out of the newest ones, or out of those from the receipt on.
-- state: window, newest, charged, head, hold, tail; returns what it becomes, null where no entry is left
create function sluice_log_refund(log uuid, state bigint[], since bigint, amount bigint, receipt bigint) returns bigint[]
language plpgsql volatile as $$
declare
  ats bigint[];
  costs bigint[];
  given bigint := 0;
  i int;
  part bigint;
begin
  if receipt >= 0 and receipt <= since then
    return state;
  end if;
  select array_agg(e.at order by e.seq), array_agg(e.cost order by e.seq) into ats, costs
    from (select l.seq, l.at, lead(l.base, 1, state[3]) over (order by l.seq) - l.base as cost from sluice_log l where l.id = log) e;
  for k in 1..cardinality(ats) loop
    i := case when receipt < 0 then cardinality(ats) + 1 - k else k end;
    continue when ats[i] <= since or ats[i] < receipt;
    part := least(amount - given, costs[i]);
    costs[i] := costs[i] - part;
    given := given + part;
  end loop;
  if given = 0 then
    return state;
  end if;
  delete from sluice_log l where l.id = log;
  insert into sluice_log (id, seq, at, base)
    select log, row_number() over (order by e.place), e.at, coalesce(sum(e.cost) over (order by e.place rows between unbounded preceding and 1 preceding), 0)
    from unnest(ats, costs) with ordinality as e (at, cost, place) where e.cost > 0;
  return (
    select case when count(*) > 0 then array[state[1], max(e.at), sum(e.cost), 1, state[5], count(*)]::bigint[] end
    from unnest(ats, costs) as e (at, cost) where e.cost > 0
  );
end $$;
