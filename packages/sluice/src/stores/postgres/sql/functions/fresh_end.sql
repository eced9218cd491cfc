-- End of a window in which nothing was charged yet. align: 0 clock, 1 first, 2 key.
create function sluice_fresh_end(len bigint, align bigint, phase bigint, now_us bigint) returns bigint language sql immutable as $$
  select case align
    when 1 then now_us + len
    when 0 then sluice_aligned(len, now_us, 0)
    else sluice_aligned(len, now_us, div(phase::numeric * len, 4294967296)::bigint)
  end
$$;
