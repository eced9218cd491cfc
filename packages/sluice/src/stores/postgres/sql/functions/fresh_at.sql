-- First instant from which a fixed window is expired. turn: see sluice_turn.
create function sluice_fresh_at(ends bigint, len bigint, turn bigint) returns bigint language sql immutable as $$
  select ends + case
    when turn >= 3 then len
    when turn = 2 then (len + 3) / 4
    when turn = 1 then (len + 15) / 16
    else (len + 63) / 64
  end
$$;
