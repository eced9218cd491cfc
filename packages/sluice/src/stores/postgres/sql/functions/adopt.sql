-- Converts a state to another plan (a limit's numbers), as `adopt` of algorithms/*.ts. plan_id is null if the result
-- equals the initial state. plans: those of the request. An earlier call of the request may have written
-- the state under one of them, and new plans are stored in the table only at its end. turn: see sluice_turn.
create function sluice_adopt(s sluice_state, plan bigint[], plans bigint[], phase bigint, now_us bigint)
returns sluice_state language plpgsql stable as $$
declare
  own bigint := s.plan_id;
  len bigint := plan[4];
  turn bigint := coalesce(s.turn, 0);
  old record;
begin
  if plan[1] = 0 then
    select p.n, p.m, p.burst into strict old from (
      select plans[8 * g - 5] as n, plans[8 * g - 4] as m, plans[8 * g - 3] as burst
        from generate_series(1, cardinality(plans) / 8) g where plans[8 * g - 7] = 0 and plans[8 * g - 6] = own
      union all
      select k.n, k.m, k.burst from sluice_plan k where k.plan_id = own
    ) p limit 1;
    return sluice_adopt_bucket(s, old.n, old.m, old.burst, plan, now_us);
  elsif plan[1] = 1 then
    -- Turn below 5: the window is not divided into parts.
    if own = len and turn < 5 then
      return s;
    elsif now_us >= s.ends then
      return case when now_us < sluice_fresh_at(s.ends, own, turn) then s end;
    -- Turn 4 and above: limits with windows of different lengths are known already. Turn 6: the count began again.
    elsif (own > len and turn >= 4) or (own = len and turn = 6) then
      return s;
    end if;
    s.ends := case
      when own = len or turn = 6 then s.ends
      when own < len and plan[5] = 1 then s.ends - own + len
      else greatest(s.ends, sluice_fresh_end(len, plan[5], phase, now_us))
    end;
    -- Turn 6: the count began again, so a limit with a longer window finds no tokens left.
    s.current := case when turn = 6 then 9007199254740991 else s.current end;
    s.plan_id := greatest(own, len);
    -- Turn 4: limits with windows of different lengths.
    s.turn := 4;
    return s;
  elsif plan[1] = 2 then
    if own > len and now_us < s.ends then
      return s;
    elsif own = len then
      s.absent := case when now_us >= s.ends then s.absent end;
      return s;
    elsif now_us >= s.ends then
      s.previous := case when now_us < s.ends + own then s.current end;
      s.current := null;
      s.ends := s.ends + own;
    end if;
    if own > len and s.absent is distinct from 1 then
      s.absent := 1;
      return case when s.previous > 0 then s end;
    end if;
    s.ends := s.ends - own + len;
    s.plan_id := len;
    s.absent := null;
    return case when now_us < s.ends and (s.current > 0 or s.previous > 0) then s end;
  end if;
  s.keep_for := greatest(own, s.keep_for);
  s.plan_id := case when s.newest + s.keep_for > now_us then len end;
  s.newest := case when s.plan_id is not null then s.newest end;
  s.keep_for := case when s.keep_for > len then s.keep_for end;
  return s;
end $$;
