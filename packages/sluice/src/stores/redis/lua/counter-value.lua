-- The value of a sliding window counter (algorithms/sliding-window-counter.ts): { end, current, previous, window }, 7 bytes each; the
-- first has 6 in its top three bits.

-- include: block-value.lua

local function read_counter(value)
  local ends, inner = 0, value
  if #value ~= 28 then ends, inner = split(value) end
  if #inner == 28 then
    local high, low, current, previous, window = parse('>I3I4I7I7I7', inner)
    if high >= 12582912 and high < 14680064 and window > 0 then
      return (high - 12582912) * 4294967296 + low, current, previous, window, ends
    end
  end
  return nil, nil, nil, nil, inner == '' and ends or 0
end

local function counter_value(finish, current, previous, window, ends)
  local low = finish % 4294967296
  local value = pack('>I3I4I7I7I7', 12582912 + (finish - low) / 4294967296, low, current, previous, window)
  if ends > 0 then return blocked(value, ends) end
  return value
end
