-- A window whose longest plan is so long, in the unit of another plan: its end, window and turn; null where it is as fresh as none. fresh:
-- the end of the plan's own window.
create function sluice_window_adopt(finish bigint, own bigint, turn bigint, len bigint, align bigint, fresh bigint, now_us bigint)
returns bigint[] language sql immutable as $$
  select case
    when own = len and turn < 5 then array[finish, own, turn]
    when now_us >= finish then case when now_us < sluice_fresh_at(finish, own, turn) then array[finish, own, turn] end
    when turn = 6 then case when len > own then array[finish, len, 4] else array[finish, own, turn] end
    when own = len then array[finish, own, 4]
    when own < len then array[case align when 1 then finish - own + len else greatest(finish, fresh) end, len, 4]
    when turn >= 4 then array[finish, own, turn]
    else array[greatest(finish, fresh), own, 4]
  end
$$;
