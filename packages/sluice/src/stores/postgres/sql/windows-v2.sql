-- Arithmetic of windows (algorithms/window.ts, fixed-window.ts, counter-weight.ts). Each is one expression, put in the place where it is used.

-- End of the window that holds this instant, windows being laid end to end from 1970 on, moved by shift.
create function sluice_aligned_v2(len bigint, now_us bigint, shift bigint) returns bigint language sql immutable as $$
  select ((now_us - shift - case when now_us < shift then len - 1 else 0 end) / len + 1) * len + shift
$$;

-- End of a window in which nothing was charged yet. align: 0 clock, 1 first, 2 key.
create function sluice_fresh_end_v2(len bigint, align bigint, phase bigint, now_us bigint) returns bigint language sql immutable as $$
  select case align
    when 1 then now_us + len
    when 0 then sluice_aligned_v2(len, now_us, 0)
    else sluice_aligned_v2(len, now_us, div(phase::numeric * len, 4294967296)::bigint)
  end
$$;

-- ceil(previous * remaining / quanta), whole tokens first.
create function sluice_weighted_v2(previous bigint, remaining bigint, quanta bigint) returns bigint language sql immutable as $$
  select previous / 1000000 * remaining / quanta * 1000000
    + (previous / 1000000 * remaining % quanta * 1000000 + previous % 1000000 * remaining + quanta - 1) / quanta
$$;

-- What the previous window still counts for. own: the parts of a window that the plan counts in; 0 where the window is another's.
create function sluice_share_v2(len bigint, own bigint, until_end bigint, previous bigint) returns bigint language plpgsql immutable as $$
declare
  quantum bigint := own;
  quanta bigint;
begin
  if previous = 0 then
    return 0;
  end if;
  if own = 0 then
    quantum := 1;
    while len > 1000000 * quantum loop
      quantum := quantum * 10;
    end loop;
  end if;
  quanta := len / quantum;
  return sluice_weighted_v2(previous, least(quanta, (until_end + quantum - 1) / quantum), quanta);
end $$;
