-- Gives the unused rest of a charge back, unless its window has ended. Use above the charge is charged to the current
-- window, whose count it raises to at most twice the limit.
create function sluice_settle_window(
  was sluice_state, plan bigint[], held bigint, used bigint, charge_us bigint, phase bigint, now_us bigint,
  out s sluice_state, out charged bigint
) language plpgsql immutable as $$
declare
  burst bigint := plan[3];
  part bigint;
  taken bigint;
begin
  s := sluice_window_at(was, plan, phase, now_us);
  part := sluice_part(s.ends, s.plan_id, s.turn, plan[4], now_us);
  taken := greatest(0, s.current - part * burst);
  charged := held + greatest(0, least(used - held, 2 * burst - taken));
  if charge_us >= s.ends - s.plan_id + part * plan[4] then
    charged := charged - least(greatest(0, held - used), taken);
  end if;
  s := case when charged = held then was
    else sluice_adjust_window(was, plan, held - charged, charge_us, phase, now_us) end;
end $$;
