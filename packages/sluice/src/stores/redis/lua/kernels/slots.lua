-- docs/stores/redis.md has the form of a value, docs/algorithms/concurrency.md its numbers.
--
-- descriptor  the index in `args` of the number 7 (the kind), cost, limit, microseconds that a slot is held, 1 if there is a holder or 0
--             if not, the holder's id in two numbers

local split, block_value, blocked = make 'block-value'

local MAX_HOLDERS = 4000

local function number_at(value, from)
  local high, low = parse('>I3I4', value, from)
  return (high - 2097152) * 4294967296 + low
end

local function bytes_of(number)
  local low = number % 4294967296
  return pack('>I3I4', 2097152 + (number - low) / 4294967296, low)
end

-- Returns when the state was written (nil for none); the last fencing number; the bytes of the holders whose slots have not ended; the sum
-- of their costs; the time of the decision; the instant until which the key is blocked (0 for none).
local function read_slots(value)
  local ends, inner = 0, value or ''
  if value then ends, inner = split(value) end
  local size = #inner
  if string.byte(inner) ~= 3 or size % 35 ~= 22 then
    -- No state: the value counts as absent. Only a block (denies all calls until `ends`) without anything after it counts.
    return nil, nil, '', 0, now, inner == '' and ends or 0
  end
  local seen, last = number_at(inner, 9), number_at(inner, 16)
  local time, from = now, 23
  if seen > now then time = seen end
  while from < size and number_at(inner, from + 21) <= time do from = from + 35 end
  local used = 0
  for holder = from, size, 35 do used = used + number_at(inner, holder + 14) end
  return seen, last, string.sub(inner, from), used, time, ends
end

-- The position of the holder's first byte, or nil.
local function holder_of(held, id)
  local from = string.find(held, id, 1, true)
  while from and from % 35 ~= 1 do from = string.find(held, id, from + 1, true) end
  return from
end

-- After holders whose slots end earlier or at the same time.
local function added(held, holder, ends)
  local from = #held + 1
  while from > 1 and number_at(held, from - 14) > ends do from = from - 35 end
  return string.sub(held, 1, from - 1) .. holder .. string.sub(held, from)
end

-- Returns the value, until when it must be kept, and until when without its block.
local function slots_value(time, last, held, ends)
  local expires = last + 1
  if held ~= '' then expires = math.max(expires, number_at(held, #held - 13)) end
  local value = '\3' .. pack('>I7', expires) .. bytes_of(time) .. bytes_of(last) .. held
  if ends > 0 then value = blocked(value, ends) end
  return value, math.max(expires, ends), expires
end

-- Returns how many calls pass. If the value changes, also the new value, and until when it must be kept. `before` is the cost of earlier
-- calls to this state in the same group.
local function take(value, descriptor, times, before)
  local cost, limit = (before or 0) + args[descriptor + 1], args[descriptor + 2]
  local passed, written, expires = 0, nil, nil
  while passed < times do
    local seen, last, held, used, time, ends = read_slots(value)
    if ends > now or cost > limit then break end
    local id = bytes_of(args[descriptor + 5]) .. bytes_of(args[descriptor + 6])
    if args[descriptor + 4] == 0 or not holder_of(held, id) then
      if used + cost > limit or #held >= MAX_HOLDERS * 35 then break end
      last = seen and math.max(time, last + 1) or time
      local finish = time + args[descriptor + 3]
      held = added(held, id .. bytes_of(cost) .. bytes_of(finish) .. bytes_of(last), finish)
      value, expires = slots_value(time, last, held, ends)
      written = value
    end
    passed = passed + 1
  end
  return passed, written, expires
end

-- Returns the new value, and until when it must be kept; false, and until when the key is blocked, if the state becomes the initial one;
-- nil if the holder has no slot.
local function release(value, one, other)
  local seen, last, held, _, time, ends = read_slots(value)
  local from = seen and holder_of(held, bytes_of(one) .. bytes_of(other))
  if not from then return nil end
  held = string.sub(held, 1, from - 1) .. string.sub(held, from + 35)
  local left, expires, needed = slots_value(time, last, held, ends)
  if needed <= time then return false, ends end
  return left, expires
end

-- Moves the end of a slot to `micros` microseconds from now. Returns the new value, and until when it must be kept; nil if the holder has
-- no slot, or one that ends later.
local function prolong(value, one, other, micros)
  local seen, last, held, _, time, ends = read_slots(value)
  local from = seen and holder_of(held, bytes_of(one) .. bytes_of(other))
  if not from or time + micros <= number_at(held, from + 21) then return nil end
  local holder = string.sub(held, from, from + 20) .. bytes_of(time + micros) .. string.sub(held, from + 28, from + 34)
  held = added(string.sub(held, 1, from - 1) .. string.sub(held, from + 35), holder, time + micros)
  return slots_value(time, last, held, ends)
end

return take, release, prolong
