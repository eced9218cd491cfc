-- First instant from which a row is expired: in the initial state, and not blocked. One expression, so that the planner
-- can inline it.
create function sluice_fresh(t sluice_state, n numeric, m numeric, burst numeric) returns bigint
language sql immutable as $$
  select greatest(t.blocked_until, case t.kind
    when 0 then greatest(
      div(t.zero * n + coalesce(t.rest, 0) + burst * m + n - 1, n)::bigint, greatest(t.seen, t.zero) + t.keep_for
    )
    when 1 then sluice_fresh_at(t.ends, t.plan_id, coalesce(t.turn, 0))
    when 2 then t.ends + case when t.current > 0 then t.plan_id else 0 end
    when 3 then t.newest + greatest(t.plan_id, t.keep_for)
    when 4 then t.ends
    else case when t.kind is not null then 9223372036854775807 end
  end)
$$;
