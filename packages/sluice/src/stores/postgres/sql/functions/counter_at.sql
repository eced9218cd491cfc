-- After its end, a window's charges count as those of the previous window for one more length. Without charges nothing is
-- left, as in a state that was deleted.
create function sluice_counter_at(s sluice_state, len bigint, now_us bigint) returns sluice_state
language plpgsql immutable as $$
begin
  if now_us < s.ends then
    return s;
  elsif now_us < s.ends + len and s.current > 0 then
    s.ends := s.ends + len;
    s.previous := s.current;
  else
    s.plan_id := len;
    s.ends := sluice_fresh_end(len, 0, 0, now_us);
    s.previous := 0;
  end if;
  s.current := 0;
  s.absent := null;
  return s;
end $$;
