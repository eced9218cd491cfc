-- Values as members of a hash. Members of one hash share their plans: they are in the member without a name, after the time until which
-- the hash lives (6 bytes, milliseconds); each n (3), m (5), burst (5), at most four, so that it stays a short value. A bucket of the
-- 28 byte form is then 13 bytes (zero, seen - zero (5), which plan (1)) or 14 (and its rest). Other values are as they are.

local function expanded(value, head)
  local size = #value
  if size ~= 13 and size ~= 14 then return value end
  local high, low, age, index = parse('>I3I4I5B', value)
  if high < 6291456 or high >= 10485760 or #head < 6 + 13 * index or index < 1 then return value end
  local n, m, burst = parse('>I3I5I5', head, 13 * index - 6)
  local rest = 0
  if size == 14 then rest = string.byte(value, 14) end
  return pack('>I3I4I3I5I3I5I5', high, low, rest, age, n, m, burst)
end

-- The value as a member, and the plans with its own.
local function compacted(value, plans)
  if #value ~= 28 then return value, plans end
  local high, low, rest, age = parse('>I3I4I3I5', value)
  if high < 6291456 or high >= 10485760 or rest > 255 then return value, plans end
  local plan, index = string.sub(value, 16), 0
  for at = 1, #plans, 13 do
    if string.sub(plans, at, at + 12) == plan then index = (at + 12) / 13 end
  end
  if index == 0 then
    if #plans > 51 then return value, plans end
    plans = plans .. plan
    index = #plans / 13
  end
  local compact = pack('>I3I4I5B', high, low, age, index)
  if rest > 0 then compact = compact .. string.char(rest) end
  return compact, plans
end

return expanded, compacted
