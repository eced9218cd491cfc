-- The value of a token bucket (algorithms/token-bucket.ts): { zero, rest, seen, hold, n, m, burst }. Three forms told apart by
-- length. The first instant is written in 7 bytes as 2^55 + zero, so that the top three bits are 4, or 3 where zero lies before 1970, as it
-- does in a bucket that takes longer to fill than the time since then:
--
-- 12 bytes    zero, seen - zero (3), n (1), burst in tokens (1); rest 0, hold 0, m 1
-- 28 bytes    zero, rest (3), seen - zero (5), n (3), m (5), burst (5); hold 0
-- 49 bytes    zero, rest, seen, hold, n, m, burst (7 each); and then, 28 bytes each, what is out on lease: holder, sequence, amount, end
-- others      MessagePack: 1 (the format), zero, rest, seen - zero, hold, n, m, burst, as earlier versions wrote it

-- include: block-value.lua

local function old_bucket(value)
  if string.byte(value) ~= 1 then return nil end
  local ok, _, zero, rest, age, hold, n, m, burst, more = pcall(cmsgpack.unpack, value)
  if not ok or more ~= nil then return nil end
  for _, number in ipairs({ zero or '', rest or '', age or '', hold or '', n or '', m or '', burst or '' }) do
    if type(number) ~= 'number' or number % 1 ~= 0 then return nil end
  end
  return zero, rest, zero + age, hold, n, m, burst
end

-- zero (nil for what is no bucket), rest, seen, hold, n, m, burst, until when a block stands before it, and its leases, nil for none.
local function read_bucket(value, ends)
  local size = #value
  if size == 12 then
    local high, low, age, n, burst = parse('>I3I4I3BB', value)
    if high >= 6291456 and high < 10485760 then
      local zero = (high - 8388608) * 4294967296 + low
      return zero, 0, zero + age, 0, n, 1, burst * 1000000, ends
    end
  elseif size == 28 then
    local high, low, rest, age, n, m, burst = parse('>I3I4I3I5I3I5I5', value)
    if high >= 6291456 and high < 10485760 and rest < n then
      local zero = (high - 8388608) * 4294967296 + low
      return zero, rest, zero + age, 0, n, m, burst, ends
    end
  elseif size >= 49 and (size - 49) % 28 == 0 then
    local high, low, rest, seen, hold, n, m, burst = parse('>I3I4I7I7I7I7I7I7', value)
    if high >= 6291456 and high < 10485760 and rest < n then
      local leases
      for at = 50, size, 28 do
        leases = leases or {}
        leases[#leases + 1] = { parse('>I7I7I7I7', value, at) }
      end
      return (high - 8388608) * 4294967296 + low, rest, seen, hold, n, m, burst, ends, leases
    end
  end
  local until_then, inner = split(value)
  if until_then > 0 and ends == 0 then
    local zero, rest, seen, hold, n, m, burst, _, leases = read_bucket(inner, until_then)
    if zero or inner == '' then return zero, rest, seen, hold, n, m, burst, until_then, leases end
    return nil, nil, nil, nil, nil, nil, nil, 0
  end
  local zero, rest, seen, hold, n, m, burst = old_bucket(value)
  return zero, rest, seen, hold, n, m, burst, ends
end

local function bucket_value(zero, rest, seen, hold, n, m, burst, ends, leases)
  local low, age = zero % 4294967296, seen - zero
  local high = 8388608 + (zero - low) / 4294967296
  local value
  if hold > 0 or leases or age < 0 or age >= 1099511627776 or n >= 16777216 or burst >= 1099511627776 then
    value = pack('>I3I4I7I7I7I7I7I7', high, low, rest, seen, hold, n, m, burst)
    for _, lease in ipairs(leases or {}) do value = value .. pack('>I7I7I7I7', lease[1], lease[2], lease[3], lease[4]) end
  elseif m == 1 and rest == 0 and age < 16777216 and n < 256 and burst < 256000000 and burst % 1000000 == 0 then
    value = pack('>I3I4I3BB', high, low, age, n, burst / 1000000)
  else
    value = pack('>I3I4I3I5I3I5I5', high, low, rest, age, n, m, burst)
  end
  if ends > 0 then return blocked(value, ends) end
  return value
end
