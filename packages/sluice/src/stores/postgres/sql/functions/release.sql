-- ids: the state of each holder, sorted, because rows are locked in this order. holders: two numbers for each, its id.
create function sluice_release(at_us bigint, ids uuid[], holders bigint[]) returns void language plpgsql volatile as $$
declare
  was sluice_state;
  s sluice_state;
begin
  for i in 1..cardinality(ids) loop
    select t.* into was from sluice_state t where t.id = ids[i] for update;
    continue when was.plan_id is null;
    if was.kind <> 4 then
      raise exception 'a state is of kind %, where 4 is known', was.kind using errcode = 'SL002';
    end if;
    s := sluice_give_back(was, holders[2 * i - 1], holders[2 * i], sluice_now(at_us));
    if s.id is null then
      perform sluice_reset(array[was.id]);
    elsif s.state <> was.state then
      perform sluice_write(s, true);
    end if;
  end loop;
end $$;
