-- A block precedes the bytes of a state: 7 bytes, the last instant at which nothing passes plus one, with 7 in the top three bits.

-- A state of a newer version, which begins with 1, counts as a block without an end: nothing passes, and nothing is written.
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

-- A block that is over is kept for a minute, for clocks that step back.
local function blocked(value, ends)
  if ends + 60000000 <= now then return value end
  return block_value(ends) .. value
end

return split, block_value, blocked
