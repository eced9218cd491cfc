-- A block denies a key until an instant: 7 bytes before a state, with 7 in their top three bits.

-- Returns the end of the block (0 for none) and the bytes of the state. A state of a newer version of Sluice (first byte 1) is read as a
-- block without an end, so no call passes or overwrites it.
local function split(value)
  local ends, inner = 0, value
  if #value >= 7 then
    local high, low = parse('>I3I4', value)
    if high >= 14680064 then ends, inner = (high - 14680064) * 4294967296 + low, string.sub(value, 8) end
  end
  if string.byte(inner) == 1 then return 9000000000000000, '' end
  return ends, inner
end

local function block_value(ends)
  local low = ends % 4294967296
  return pack('>I3I4', 14680064 + (ends - low) / 4294967296, low)
end

-- A block is kept for a minute after its end, because a clock may step back.
local function blocked(value, ends)
  if ends + 60000000 <= now then return value end
  return block_value(ends) .. value
end

return split, block_value, blocked
