-- docs/stores/redis.md has the form of this value.

local split, _, blocked = make 'block-value'

local function read_counter(value)
  local ends, inner = 0, value
  if #value ~= 28 then ends, inner = split(value) end
  if #inner == 28 then
    local high, low, current, previous, absent, window = parse('>I3I4I7I7BI6', inner)
    window = absent % 16 * 281474976710656 + window
    if high >= 12582912 and high < 14680064 and window > 0 then
      return (high - 12582912) * 4294967296 + low, current, previous, window, math.floor(absent / 16), ends
    end
  end
  if inner == value then ends, inner = split(value) end
  return nil, nil, nil, nil, nil, inner == '' and ends or 0
end

local function counter_value(finish, current, previous, window, absent, ends)
  local low, short = finish % 4294967296, window % 281474976710656
  local top = absent * 16 + (window - short) / 281474976710656
  local value = pack('>I3I4I7I7BI6', 12582912 + (finish - low) / 4294967296, low, current, previous, top, short)
  if ends > 0 then return blocked(value, ends) end
  return value
end

return read_counter, counter_value
