-- While a longer plan of a key is not called, its window is counted in parts of the shorter plan's length. Returns the
-- index of the present part, from 0. own: the length of the window; len: the length of the shorter plan.
create function sluice_part(ends bigint, own bigint, turn bigint, len bigint, now_us bigint) returns bigint
language sql immutable as $$
  select case
    when turn >= 5 and own > len then greatest(0, least((now_us - ends + own) / len, own / len - 1))
    else 0
  end
$$;
