-- Returns how many of `times` calls pass. If the value changes, also the new value, and until when it must be kept.

local read_counter, counter_value = make 'counter-value'
local adopt_counter, rolled, share = make 'counter-adopt'

return function(value, descriptor, times)
  local cost, limit, length = args[descriptor + 1], args[descriptor + 2], args[descriptor + 3]
  local ends, passed, previous, span, absent = 0, 0, 0, length, 0
  local finish, current, converted
  if value then
    finish, current, previous, span, absent, ends = read_counter(value)
    if finish then
      finish, current, previous, span, absent, converted = adopt_counter(finish, current, previous, span, absent, descriptor)
    end
  end
  if not (finish and now < finish) then
    finish, current, previous = rolled(finish, current, previous, length)
    span, absent = length, 0
  end
  local room = limit - share(finish, previous, span, descriptor)
  if ends > now then times = 0 end
  while passed < times and current + cost <= room do
    current, passed = current + cost, passed + 1
  end
  if passed == 0 and not converted then return 0 end
  local expires = finish
  if current > 0 then expires = finish + span end
  if ends > expires then expires = ends end
  return passed, counter_value(finish, current, previous, span, absent, ends), expires
end
