-- Returns how many of `times` calls pass. If the value changes, also the new value, and until when it must be kept.

local read_window, window_value, window_until = make 'window-value'
local adopt_window, begun, part_of, turn_of = make('window-adopt', window_until)

return function(value, descriptor, times)
  local cost, limit, ramp = args[descriptor + 1], args[descriptor + 2], args[descriptor + 5]
  local ends, passed = 0, 0
  local finish, count, span, turn, converted
  if value then
    finish, count, span, turn, ends = read_window(value)
    if finish then finish, count, span, turn, converted = adopt_window(finish, count, span, turn, descriptor) end
  end
  if not (finish and now < finish) then
    finish, span, turn = begun(finish, span, turn, descriptor)
    count = 0
  end
  local start, base, used, long, who = part_of(finish, count, span, turn, descriptor)
  local elapsed, most = now - start, limit
  if ramp > 0 and elapsed < ramp then
    if elapsed < 0 then elapsed = 0 end
    local grown = math.floor(elapsed * args[descriptor + 6] / args[descriptor + 7])
    if grown < 1000000 then grown = 1000000 end
    if grown < most then most = grown end
  end
  if ends > now then times = 0 end
  while passed < times and used + cost <= most do
    used, passed = used + cost, passed + 1
  end
  if passed > 0 then
    count, span = base + used, long
    turn = turn_of(who, count, limit)
  elseif not converted then
    return 0
  end
  local expires = window_until(finish, span, turn)
  if ends > expires then expires = ends end
  return passed, window_value(finish, count, span, turn, ends), expires
end
