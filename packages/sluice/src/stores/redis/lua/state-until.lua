-- The instant until which a state is needed; nothing for what is no state.
local function state_until(value)
  local zero, rest, seen, hold, n, m, burst, _, leases = read_bucket(value, 0)
  if zero then return leased_until(zero, rest, seen, hold, n, m, burst, leases or {}) end
  local finish, _, length, turn = read_window(value)
  if finish then return window_until(finish, length, turn) end
  local ended, current, _, window = read_counter(value)
  if ended and current > 0 then return ended + window end
  return ended
end
