-- The index, from 0, of the present part of the window of an absent longer plan.
create function sluice_part(ends bigint, own bigint, turn bigint, len bigint, now_us bigint) returns bigint
language sql immutable as $$
  select case
    when turn >= 5 and own > len then greatest(0, least((now_us - ends + own) / len, own / len - 1))
    else 0
  end
$$;
