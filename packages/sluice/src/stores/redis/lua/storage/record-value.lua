-- docs/stores/redis.md has the form of this value. A mark is a number that a limit's algorithm needs to settle the hold, 0 for none. Other
-- marks are written as mark - at + 2^39, or + 2^52 in the form with wider fields. `at` is the instant of the reservation.

local SHORT, HALF, WIDE_HALF = 1099511627776, 549755813888, 4503599627370496

-- Returns the instant of the reservation, the end of the hold, 1 if it is settled or else 0, and the parts, each { name, held, charged,
-- overage, mark }; nil for any other value.
local function read_record(value)
  local kind, size = value and string.byte(value), value and #value
  if not kind or kind < 8 or kind > 15 or size < 13 then return nil end
  local settled = kind % 2
  local long, more = kind % 4 > 1, kind > 11
  local number = long and 'I7' or 'I5'
  local at, span, from = parse('>I7' .. number, value, 2)
  local form = '>I4' .. number .. number
  if more then form = form .. number .. number end
  local step = 4 + (more and 4 or 2) * (long and 7 or 5)
  if (size - from + 1) % step > 0 then return nil end
  local parts = {}
  for first = from, size, step do
    local name, held, mark, charged, overage = parse(form, value, first)
    if not more then charged, overage = held, 0 end
    if mark > 0 then mark = at + mark - (long and WIDE_HALF or HALF) end
    parts[#parts + 1] = { name, held, charged, overage, mark }
  end
  return at, at + span, settled, parts
end

local function record_value(at, expires, settled, parts)
  local long, more = expires - at >= SHORT, false
  for _, part in ipairs(parts) do
    local held, charged, overage, mark = part[2], part[3], part[4], part[5]
    if charged ~= held or overage > 0 then more = true end
    if math.max(held, charged, overage) >= SHORT or mark ~= 0 and (mark <= at - HALF or mark >= at + HALF) then long = true end
  end
  local number = long and 'I7' or 'I5'
  local form = '>I4' .. number .. number
  local value = pack('>BI7' .. number, 8 + settled + (long and 2 or 0) + (more and 4 or 0), at, expires - at)
  for _, part in ipairs(parts) do
    local mark = part[5]
    if mark ~= 0 then mark = mark - at + (long and WIDE_HALF or HALF) end
    value = value .. pack(form, part[1], part[2], mark)
    if more then value = value .. pack('>' .. number .. number, part[3], part[4]) end
  end
  return value
end

return read_record, record_value
