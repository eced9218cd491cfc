-- Settles the charge of a hold to one limit, as `settle` of algorithms/*.ts does.
--
-- held, used   micro-tokens that the hold was charged, and that it really used
-- charge_us    instant of the charge
-- mark         for buckets: the instant `zero` (when the bucket would be empty) right after the charge
-- charged      micro-tokens that the limit now counts for the hold; s is null if it equals an unused key's state
create function sluice_settle_part(
  was sluice_state, plan bigint[], held bigint, used bigint, charge_us bigint, mark bigint, phase bigint, now_us bigint,
  out s sluice_state, out charged bigint
) language plpgsql stable as $$
declare
  settled record;
begin
  s := was;
  if s.plan_id <> plan[2] or s.kind = 1 or s.absent = 1 then
    s := sluice_adopt(s, plan, '{}', phase, now_us);
  end if;
  if plan[1] = 0 then
    settled := sluice_settle_bucket(s, plan, held, used, mark, now_us);
  elsif plan[1] = 1 then
    settled := sluice_settle_window(s, plan, held, used, charge_us, phase, now_us);
  else
    settled := sluice_settle_counter(s, plan, held, used, charge_us, now_us);
  end if;
  s := settled.s;
  charged := settled.charged;
  s.kind := case when s.plan_id is not null then plan[1] end;
end $$;
