-- Many states are members of one hash. A bucket of 28 bytes becomes `zero` (7 bytes), `seen` less `zero` (5), the number of its limit (1),
-- and `rest` (1) unless that is 0. Other values are unchanged.
--
-- The member with the empty name has the time until which the hash is kept (6 bytes, milliseconds), then `n` (3), `m` (5) and `burst` (5)
-- of at most four limits. docs/algorithms/token-bucket.md explains these numbers.

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

-- Returns the value as the hash stores it, and the hash's limits including that of the value.
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
