-- docs/stores/redis.md has the form of this value.

local split, _, blocked = make 'block-value'

local function read_window(value)
  local ends, inner = 0, value
  if #value ~= 21 then ends, inner = split(value) end
  if #inner == 21 then
    local high, low, count, turn, window = parse('>I3I4I7BI6', inner)
    window = turn % 16 * 281474976710656 + window
    if high >= 10485760 and high < 12582912 and window > 0 then
      return (high - 10485760) * 4294967296 + low, count, window, math.floor(turn / 16), ends
    end
  end
  if inner == value then ends, inner = split(value) end
  return nil, nil, nil, nil, inner == '' and ends or 0
end

local function window_value(finish, count, window, turn, ends)
  local low, short = finish % 4294967296, window % 281474976710656
  local top = turn * 16 + (window - short) / 281474976710656
  local value = pack('>I3I4I7BI6', 10485760 + (finish - low) / 4294967296, low, count, top, short)
  if ends > 0 then return blocked(value, ends) end
  return value
end

-- First instant from which the state is expired.
local function window_until(finish, window, turn)
  if turn > 2 then return finish + window end
  return finish + math.ceil(window / (turn == 2 and 4 or turn == 1 and 16 or 64))
end

return read_window, window_value, window_until
