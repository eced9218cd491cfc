-- End of the window that holds this instant, windows being laid end to end from 1970 on, moved by shift.
create function sluice_aligned(len bigint, now_us bigint, shift bigint) returns bigint language sql immutable as $$
  select ((now_us - shift - case when now_us < shift then len - 1 else 0 end) / len + 1) * len + shift
$$;
