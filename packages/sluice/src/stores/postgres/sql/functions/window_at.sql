-- If the count of a window in parts (sluice_part) would become too large for exact numbers, it begins anew with the
-- present part (docs/decisions/0006). turn: see sluice_turn.
create function sluice_window_at(s sluice_state, plan bigint[], phase bigint, now_us bigint) returns sluice_state
language plpgsql immutable as $$
declare
  burst bigint := plan[3];
  len bigint := plan[4];
  fresh bigint := sluice_fresh_end(len, plan[5], phase, now_us);
  remembered boolean := now_us < sluice_fresh_at(s.ends, s.plan_id, coalesce(s.turn, 0));
  part bigint;
begin
  if s.plan_id is null or now_us >= s.ends then
    s.current := 0;
    if remembered and s.plan_id < len then
      s.ends := greatest(fresh, s.ends + s.plan_id);
      s.plan_id := len;
      s.turn := 4;
    elsif remembered and s.plan_id > len and coalesce(s.turn, 0) < 5 then
      s.ends := s.ends + s.plan_id;
      s.turn := 5;
    else
      s.ends := fresh + case when remembered and fresh - len < s.ends then len else 0 end;
      s.plan_id := len;
      s.turn := 0;
    end if;
  end if;
  part := sluice_part(s.ends, s.plan_id, s.turn, len, now_us);
  if s.turn = 6 or (s.turn = 5 and part + 2 > 9007199254740991 / burst) then
    s.current := case when part > 9007199254740991 / burst then 0 else greatest(0, s.current - part * burst) end;
    s.plan_id := s.plan_id - part * len;
    s.turn := 6;
  end if;
  return s;
end $$;
