-- Refunds and penalties, as `adjust` of algorithms/*.ts.
--
-- receipt   time of the charge that is given back; -1 for none
-- ids       the states, in the order of the ids, so that transactions cannot deadlock
-- plans     the limits, each in eight numbers as for sluice_consume
-- calls     for each: micro-tokens (above 0 given back, below 0 taken), phase (see sluice_fresh_end)
create function sluice_adjust(at_us bigint, receipt bigint, ids uuid[], plans bigint[], calls bigint[])
returns void language plpgsql volatile as $$
declare
  now_us bigint;
  plan bigint[];
  amount bigint;
  was sluice_state;
  s sluice_state;
  decided record;
begin
  for i in 1..cardinality(ids) loop
    amount := calls[2 * i - 1];
    plan := plans[8 * i - 7:8 * i];
    loop
      select t.* into was from sluice_state t where t.id = ids[i] for update;
      if was.kind <> plan[1] then
        raise exception 'a state is of kind %, where % is known', was.kind, plan[1] using errcode = 'SL002';
      end if;
      now_us := sluice_now(at_us);
      s := was;
      if s.plan_id <> plan[2] or s.kind = 1 or s.absent = 1 then
        s := sluice_adopt(s, plan, '{}', calls[2 * i], now_us);
      end if;

      if plan[1] = 0 then
        s := sluice_adjust_bucket(s, plan, amount, receipt, now_us);
      elsif plan[1] = 1 then
        s := sluice_adjust_window(s, plan, amount, receipt, calls[2 * i], now_us);
      elsif plan[1] = 2 then
        s := sluice_adjust_counter(s, plan, amount, receipt, now_us);
      elsif amount < 0 then
        decided := sluice_log_decide(s, was, plan, -amount, now_us, false, true);
        s := case when decided.verdict[1] = 0 then decided.s else s end;
      elsif s.plan_id is not null then
        s := sluice_log_refund(s, greatest(now_us, s.newest) - plan[4], amount, receipt);
      end if;

      if s.plan_id is null then
        if was.id is not null then
          perform sluice_reset(array[was.id]);
        end if;
        exit;
      end if;
      s.id := ids[i];
      s.kind := plan[1];
      if plan[1] = 0 and s.plan_id is distinct from was.plan_id then
        insert into sluice_plan (plan_id, n, m, burst) values (plan[2], plan[3], plan[4], plan[5])
          on conflict do nothing;
      end if;
      -- If another transaction has inserted the row meanwhile, nothing was written, and the loop adjusts that row.
      continue when not sluice_write(s, was.id is not null);
      if plan[1] = 3 and amount < 0 then
        perform sluice_log_write(s, was);
      end if;
      exit;
    end loop;
  end loop;
end $$;
