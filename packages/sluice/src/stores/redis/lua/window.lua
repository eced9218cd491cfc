-- The fixed window kernel: how many of `times` calls pass; where the value changes, the new one and until when it is needed.

local function window(value, row, times)
  local cost, limit, length, ramp = asked[row + 1], asked[row + 2], asked[row + 3], asked[row + 5]
  local ends, passed = 0, 0
  local finish, count, span, converted
  if value then
    finish, count, span, ends = read_window(value)
    if finish then finish, count, span, converted = adopt_window(finish, count, span, row) end
  end
  if not (finish and now < finish) then finish, count, span = fresh_end(row, now), 0, length end
  local elapsed = now - finish + span
  if ramp > 0 and elapsed < ramp then
    if elapsed < 0 then elapsed = 0 end
    local grown = math.floor(elapsed * asked[row + 6] / asked[row + 7])
    if grown < 1000000 then grown = 1000000 end
    if grown < limit then limit = grown end
  end
  if ends > now then times = 0 end
  while passed < times and count + cost <= limit do
    count, passed = count + cost, passed + 1
  end
  if passed == 0 and not converted then return 0 end
  local expires = finish
  if ends > expires then expires = ends end
  return passed, window_value(finish, count, span, ends), expires
end
