-- Nil if the value is not a state.

local split = make 'block-value'
local read_bucket = make 'bucket-value'
local flow, cut = make 'bucket-flow'
local _, _, leased_until = make('bucket-leases', flow, cut)
local read_window, _, window_until = make 'window-value'
local read_counter = make 'counter-value'
local read_record = make 'record-value'

return function(value)
  local zero, rest, seen, keep_for, n, m, burst, _, leases = read_bucket(value, 0)
  if zero then return leased_until(zero, rest, seen, keep_for, n, m, burst, leases or {}) end
  local finish, _, length, turn = read_window(value)
  if finish then return window_until(finish, length, turn) end
  local ended, current, _, window = read_counter(value)
  if ended and current > 0 then return ended + window end
  local _, held_until = read_record(value)
  if held_until then return held_until + 60000000 end
  -- The state of an algorithm without a program (value.ts).
  local _, inner = split(value)
  if string.byte(inner) == 3 then return (parse('>I7', inner, 2)) end
  return ended
end
