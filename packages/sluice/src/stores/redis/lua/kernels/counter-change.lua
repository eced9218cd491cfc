-- Changes a counter for a refund or the settlement of a hold.

local read, put, drop = ...
local read_counter, counter_value = make 'counter-value'
local adopt_counter, rolled, share = make 'counter-adopt'

-- `amounts_of(ended, current, previous, span, shared)` returns what is given back (below 0: charged) of the current window, which ends at
-- `ended` after `span`, and of the previous one, of which `shared` counts. The change returns true if a newer version of Sluice wrote the
-- state.
return function(state, descriptor, amounts_of)
  local length = args[descriptor + 3]
  local ends = 0
  local value = read(state)
  local finish, current, previous, span, absent, converted
  if value then
    local there
    finish, current, previous, span, absent, ends = read_counter(value)
    if ends == 9000000000000000 then return true end
    there = finish
    if finish then
      finish, current, previous, span, absent, converted = adopt_counter(finish, current, previous, span, absent, descriptor)
    end
    if there and not finish then drop(state, ends) end
  end
  local kept = finish and now < finish
  local ended, now_current, now_previous = rolled(finish, current, previous, length)
  if not kept then span, absent = length, 0 end
  local of_current, of_previous = amounts_of(ended, now_current, now_previous, span, share(ended, now_previous, span, descriptor))
  if of_current ~= 0 or of_previous ~= 0 then
    finish, current, previous, converted = ended, now_current - of_current, now_previous - of_previous, true
    if current + previous == 0 then return drop(state, ends) end
  end
  if not converted then return end
  local expires = finish
  if current > 0 then expires = finish + span end
  put(state, counter_value(finish, current, previous, span, absent, ends), math.max(expires, ends))
end
