-- Changes a window for a refund or the settlement of a hold.

local read, put, drop = ...
local read_window, window_value, window_until = make 'window-value'
local adopt_window, begun, part_of, turn_of = make('window-adopt', window_until)

-- `amount_of(used, start)` returns how much of `used` is given back (below 0: charged). Both are those of the present part if the window is
-- divided into parts (`part_of`). Returns true if a newer version of Sluice wrote the state.
return function(state, descriptor, amount_of)
  local limit = args[descriptor + 2]
  local ends = 0
  local value = read(state)
  local finish, count, span, turn, converted
  if value then
    local there
    finish, count, span, turn, ends = read_window(value)
    if ends == 9000000000000000 then return true end
    there = finish
    if finish then finish, count, span, turn, converted = adopt_window(finish, count, span, turn, descriptor) end
    if there and not finish then drop(state, ends) end
  end
  local last, long, who, taken = finish, span, turn, count
  if not (finish and now < finish) then
    last, long, who = begun(finish, span, turn, descriptor)
    taken = 0
  end
  local start, base, used
  start, base, used, long, who = part_of(last, taken, long, who, descriptor)
  local amount = amount_of(used, start)
  if amount ~= 0 then
    taken, converted = base + used - amount, true
    -- Turn below 4: only limits with windows of one length.
    if amount > 0 and taken == 0 and who < 4 then return drop(state, ends) end
    finish, count, span, turn = last, taken, long, turn_of(who, taken, limit)
  end
  if not converted then return end
  put(state, window_value(finish, count, span, turn, ends), math.max(window_until(finish, span, turn), ends))
end
