-- A limit's window of length own was changed to a shorter length len: the longer window is counted in parts of length
-- len. Returns the index of the present part, from 0. turn: see sluice_turn.
create function sluice_part(ends bigint, own bigint, turn bigint, len bigint, now_us bigint) returns bigint
language sql immutable as $$
  select case
    when turn >= 5 and own > len then greatest(0, least((now_us - ends + own) / len, own / len - 1))
    else 0
  end
$$;
