-- A state in the unit of another plan, as the kernels' adopt (law 7).
--
-- state    unit and numbers: unit, a, b, c, hold
-- plan     kind, unit, and the numbers of the plan; eight in all. plans: all of the question, for the plan of a bucket may be among them
-- returns  the state in the plan's unit; null where it is as fresh as none
create function sluice_adopt(state bigint[], plan bigint[], plans bigint[], phase bigint, now_us bigint) returns bigint[]
language plpgsql stable as $$
declare
  own bigint := state[1];
  a bigint := state[2];
  b bigint := state[3];
  c bigint := state[4];
  hold bigint := state[5];
  len bigint := plan[4];
  old bigint[];
begin
  if plan[1] = 0 then
    select array[p.n, p.m, p.burst] into strict old from (
      select plans[8 * g - 5] as n, plans[8 * g - 4] as m, plans[8 * g - 3] as burst
        from generate_series(1, cardinality(plans) / 8) g where plans[8 * g - 7] = 0 and plans[8 * g - 6] = own
      union all
      select k.n, k.m, k.burst from sluice_plan k where k.unit = own
    ) p limit 1;
    old := sluice_adopt_bucket(a, b, c, hold, old[1], old[2], old[3], plan[3], plan[4], plan[5], now_us);
    return case when old is not null then plan[2] || old end;
  elsif plan[1] = 1 then
    old := sluice_window_adopt(a, own, hold, len, plan[5], sluice_fresh_end(len, plan[5], phase, now_us), now_us);
    -- Of what was counted anew, a longer plan finds nothing left.
    b := case when hold = 6 and old[3] = 4 then 9007199254740991 else b end;
    return case when old is not null then array[old[2], old[1], b, c, old[3]] end;
  elsif plan[1] = 2 then
    if own = len then
      return array[own, a, b, c, case when now_us < a then 0 else hold end];
    end if;
    if own > len and now_us < a then
      return state;
    end if;
    if now_us >= a then
      c := case when now_us < a + own then b else 0 end;
      b := 0;
      a := a + own;
    end if;
    if own > len and hold = 0 then
      return case when c > 0 then array[own, a, b, c, 1] end;
    end if;
    a := a - own + len;
    return case when now_us < a and b + c > 0 then array[len, a, b, c, 0] end;
  end if;
  hold := greatest(own, hold);
  return case when a + hold > now_us then array[len, a, b, c, case when hold > len then hold else 0 end] end;
end $$;
