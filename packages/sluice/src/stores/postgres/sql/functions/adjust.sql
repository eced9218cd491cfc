-- Gives back and takes without asking, as the kernels' adjust, call by call: each state is locked, changed to the plan's unit,
-- adjusted and written before the next one, in the order of the ids.
--
-- given     time in microseconds since 1970; 0 for the database's own clock, read once each row is locked
-- receipt   store time of the charge that is given back; -1 for none
-- ids       for each call its state
-- plans     for each call: kind, unit, numbers of its plan; eight in all, as for sluice_consume
-- calls     for each call: amount in micro-tokens (below 0: taken), phase
create function sluice_adjust(given bigint, receipt bigint, ids uuid[], plans bigint[], calls bigint[])
returns void language plpgsql volatile as $$
declare
  now_us bigint;
  plan bigint[];
  amount bigint;
  stored boolean;
  t record;
  state bigint[];
begin
  for i in 1..cardinality(ids) loop
    amount := calls[2 * i - 1];
    plan := plans[8 * i - 7:8 * i];
    loop
      select r.kind, r.unit, coalesce(r.zero, r.ends, r.newest) as a, coalesce(r.rest, r.current, r.charged, 0) as b,
          coalesce(r.seen, r.previous, r.head, 0) as c, coalesce(r.tail, 0) as d, coalesce(r.hold, r.turn, r.absent, 0) as hold
        into t from sluice_state r where r.id = ids[i] for update;
      stored := found;
      if t.kind <> plan[1] then
        raise exception 'a state is of kind %, where % is known', t.kind, plan[1] using errcode = 'SL002';
      end if;
      now_us := case when given = 0 then (extract(epoch from clock_timestamp()) * 1000000)::bigint else given end;
      state := case when t.unit is not null then array[t.unit, t.a, t.b, t.c, t.hold] end;
      if t.unit <> plan[2] or (t.unit is not null and plan[1] = 1) or (plan[1] = 2 and t.hold = 1) then
        state := sluice_adopt(state, plan, '{}', calls[2 * i], now_us);
      end if;

      if plan[1] = 0 then
        state := sluice_adjust_bucket(state, plan, amount, receipt, now_us);
      elsif plan[1] = 1 then
        state := sluice_adjust_window(state, plan, amount, receipt, calls[2 * i], now_us);
      elsif plan[1] = 2 then
        state := sluice_adjust_counter(state, plan, amount, receipt, now_us);
      else
        state := sluice_adjust_log(ids[i], state, coalesce(t.b, 0), coalesce(t.c, 0), coalesce(t.d, 0), plan, amount, receipt, now_us);
      end if;

      if state is null then
        if stored then
          perform sluice_forget(ids[i]);
        end if;
        exit;
      end if;
      if plan[1] = 0 and state[1] is distinct from t.unit then
        insert into sluice_plan (unit, n, m, burst) values (plan[2], plan[3], plan[4], plan[5]) on conflict do nothing;
      end if;
      -- Where somebody else has made it meanwhile, it is adjusted as it is.
      continue when not sluice_write(ids[i], stored, plan[1]::int, state[1], state[2], state[3], state[4], state[6], state[5]);
      if plan[1] = 3 and amount < 0 then
        perform sluice_log_write(ids[i], state[2], state[4], state[6], coalesce(t.a, 0), coalesce(t.b, 0), coalesce(t.c, 0), coalesce(t.d, 0));
      end if;
      exit;
    end loop;
  end loop;
end $$;
