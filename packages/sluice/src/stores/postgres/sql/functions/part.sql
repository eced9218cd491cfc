-- If calls of a key had a longer plan (a limit in numbers) and now have a shorter one, the longer window is counted in
-- parts of the shorter plan's length. Returns the index of the present part, from 0.
--
-- own  the length of the window; len: that of the shorter plan; turn: see sluice_turn
create function sluice_part(ends bigint, own bigint, turn bigint, len bigint, now_us bigint) returns bigint
language sql immutable as $$
  select case
    when turn >= 5 and own > len then greatest(0, least((now_us - ends + own) / len, own / len - 1))
    else 0
  end
$$;
