-- First instant from which a row decides like none; n, m, burst: of a bucket's plan. One expression, put in the place where it is used.
create function sluice_fresh(
  kind int, unit bigint, zero bigint, rest bigint, seen bigint, ends bigint, current bigint, turn bigint, newest bigint, hold bigint,
  blocked_until bigint, n bigint, m bigint, burst bigint
) returns bigint language sql immutable as $$
  select greatest(blocked_until, case kind
    when 0 then greatest(
      zero + sluice_whole(n, m, burst) + (coalesce(rest, 0) + sluice_parts(n, m, burst) + n - 1) / n, seen + coalesce(hold, 0)
    )
    when 1 then sluice_fresh_at(ends, unit, coalesce(turn, 0))
    when 2 then ends + case when current > 0 then unit else 0 end
    when 3 then newest + greatest(unit, hold)
  end)
$$;
