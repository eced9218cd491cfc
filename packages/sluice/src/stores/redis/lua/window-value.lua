-- The value of a fixed window (algorithms/fixed-window.ts): { end, count, window }, 7 bytes each; the first has 5 in its top three bits.

-- include: block-value.lua

local function read_window(value)
  local ends, inner = 0, value
  if #value ~= 21 then ends, inner = split(value) end
  if #inner == 21 then
    local high, low, count, window = parse('>I3I4I7I7', inner)
    if high >= 10485760 and high < 12582912 and window > 0 then
      return (high - 10485760) * 4294967296 + low, count, window, ends
    end
  end
  return nil, nil, nil, inner == '' and ends or 0
end

local function window_value(finish, count, window, ends)
  local low = finish % 4294967296
  local value = pack('>I3I4I7I7', 10485760 + (finish - low) / 4294967296, low, count, window)
  if ends > 0 then return blocked(value, ends) end
  return value
end
