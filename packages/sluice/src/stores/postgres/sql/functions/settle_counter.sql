-- Gives the unused rest of a charge back to its window, if that is the current or the previous one. Use above the
-- charge is charged to that window, for an older charge to the current one, until the key has used twice the limit.
create function sluice_settle_counter(
  was sluice_state, plan bigint[], held bigint, used bigint, charge_us bigint, now_us bigint,
  out s sluice_state, out charged bigint
) language plpgsql immutable as $$
declare
  most bigint := 2 * plan[3];
  own sluice_state := sluice_counter_at(was, plan[4], now_us);
  current bigint := coalesce(own.current, 0);
  previous bigint := coalesce(own.previous, 0);
  is_previous boolean := charge_us < own.ends - own.plan_id and charge_us >= own.ends - 2 * own.plan_id;
  is_current boolean := charge_us >= own.ends - own.plan_id;
  room bigint;
begin
  s := was;
  charged := held;
  if used < held then
    room := least(held - used, case when is_current then current when is_previous then previous else 0 end);
    if room > 0 then
      s := sluice_adjust_counter(was, plan, room, charge_us, now_us);
      charged := held - room;
    end if;
    return;
  end if;
  room := most - current - case when previous > 0 then sluice_share(own, plan, now_us) else 0 end;
  room := least(used - held, room, case when is_previous then most - previous else room end);
  if room > 0 then
    charged := held + room;
    s := own;
    s.current := current + case when is_previous then 0 else room end;
    s.previous := previous + case when is_previous then room else 0 end;
  end if;
end $$;
