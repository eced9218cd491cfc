-- As `adjust` of algorithms/sliding-window-counter.ts; gives `amount` back, or charges it if below 0. A counter's
-- plan id is its window's length. Null if the counter equals the initial state.
create function sluice_adjust_counter(was sluice_state, plan bigint[], amount bigint, receipt bigint, now_us bigint)
returns sluice_state language plpgsql immutable as $$
declare
  burst bigint := plan[3];
  s sluice_state := sluice_counter_at(was, plan[4], now_us);
  current bigint := coalesce(s.current, 0);
  previous bigint := coalesce(s.previous, 0);
  begins bigint := s.ends - s.plan_id;
  part bigint;
  older bigint;
begin
  if amount < 0 then
    part := 2 * burst - current - case when previous > 0 then sluice_share(s, plan, now_us) else 0 end;
    s.current := current + least(part, -amount);
    return case when part > 0 then s else was end;
  end if;
  part := case when receipt between 0 and begins - 1 then 0 else least(current, amount) end;
  older := case
    when receipt >= begins or receipt between 0 and begins - s.plan_id - 1 then 0
    else least(previous, amount - part)
  end;
  if part + older = 0 then
    return was;
  end if;
  s.current := current - part;
  s.previous := previous - older;
  return case when s.current + s.previous > 0 then s end;
end $$;
