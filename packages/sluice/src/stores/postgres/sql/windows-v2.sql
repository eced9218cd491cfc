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

-- Fixed windows of plans that take turns (algorithms/window-turns.ts). turn: 0 to 3 one plan alone, 4 both, 5 the longer one absent,
-- 6 and nothing left for it.

-- First instant from which the state decides like none.
create function sluice_fresh_at_v2(finish bigint, len bigint, turn bigint) returns bigint language sql immutable as $$
  select finish + case when turn >= 3 then len when turn = 2 then (len + 3) / 4 when turn = 1 then (len + 15) / 16 else (len + 63) / 64 end
$$;

-- How long a plan that is alone is remembered.
create function sluice_turn_v2(turn bigint, count bigint, most bigint) returns bigint language sql immutable as $$
  select case when turn >= 4 then turn when count * 4 > most then 3 when count * 16 > most then 2 when count * 64 > most then 1 else 0 end
$$;

-- Which part of the window of an absent longer plan this is.
create function sluice_part_v2(elapsed bigint, len bigint, longer bigint) returns bigint language sql immutable as $$
  select greatest(0, least(elapsed / len, longer / len - 1))
$$;

-- What was taken in this part.
create function sluice_used_v2(count bigint, part bigint, most bigint) returns bigint language sql immutable as $$
  select case when part > 9007199254740991 / most then 0 else greatest(0, count - part * most) end
$$;

-- Whether the window is counted anew from this part on.
create function sluice_spent_v2(turn bigint, part bigint, most bigint) returns boolean language sql immutable as $$
  select turn = 6 or part + 2 > 9007199254740991 / most
$$;

-- A window whose longest plan is so long, in the unit of another plan: its end, window and turn; null where it is as fresh as none. fresh:
-- the end of the plan's own window.
create function sluice_window_adopt_v2(finish bigint, own bigint, turn bigint, len bigint, align bigint, fresh bigint, now_us bigint)
returns bigint[] language sql immutable as $$
  select case
    when own = len and turn < 5 then array[finish, own, turn]
    when now_us >= finish then case when now_us < sluice_fresh_at_v2(finish, own, turn) then array[finish, own, turn] end
    when turn = 6 then case when len > own then array[finish, len, 4] else array[finish, own, turn] end
    when own = len then array[finish, own, 4]
    when own < len then array[case align when 1 then finish - own + len else greatest(finish, fresh) end, len, 4]
    when turn >= 4 then array[finish, own, turn]
    else array[greatest(finish, fresh), own, 4]
  end
$$;

-- The window that begins now, after one that is remembered or over: its end, window and turn.
create function sluice_begun_v2(finish bigint, own bigint, turn bigint, len bigint, align bigint, fresh bigint, now_us bigint)
returns bigint[] language sql immutable as $$
  select case
    when now_us >= sluice_fresh_at_v2(finish, own, turn) then array[fresh, len, 0]
    when own < len then array[greatest(fresh, finish + own), len, 4]
    when own > len and turn < 5 then array[finish + own, own, 5]
    when align <> 1 and fresh - len < finish then array[fresh + len, len, 0]
    else array[fresh, len, 0]
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
