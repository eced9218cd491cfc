-- The window that begins now, after one that is remembered or over: its end, window and turn.
create function sluice_begun(finish bigint, own bigint, turn bigint, len bigint, align bigint, fresh bigint, now_us bigint)
returns bigint[] language sql immutable as $$
  select case
    when now_us >= sluice_fresh_at(finish, own, turn) then array[fresh, len, 0]
    when own < len then array[greatest(fresh, finish + own), len, 4]
    when own > len and turn < 5 then array[finish + own, own, 5]
    when align <> 1 and fresh - len < finish then array[fresh + len, len, 0]
    else array[fresh, len, 0]
  end
$$;
