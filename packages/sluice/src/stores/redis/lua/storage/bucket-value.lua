-- docs/stores/redis.md has the forms of a bucket, docs/algorithms/token-bucket.md its numbers.

local split, _, blocked = make 'block-value'

-- Whether a valid limit can have written these numbers. With other numbers, results might not be exact.
local function is_possible(rest, seen, keep_for, n, m, burst)
  if rest >= n or seen > 9007199254740991 or keep_for > 3200000000000000 then return false end
  if m < 1 or burst < 1 or m > 9007199254 then return false end
  return n * (burst / 1000000 + 2) <= 9007199254740992 and burst / n * m <= 3200000000000000
end

-- Returns the fields `zero` (nil if the value is not a bucket), `rest`, `seen`, `keep_for`, `n`, `m` and `burst`, until when the key is
-- blocked, and the leases (nil for none).
local function read_bucket(value, ends)
  local size = #value
  local high, low, rest, age, seen, keep_for, n, m, burst
  if size == 12 then
    high, low, age, n, burst = parse('>I3I4I3BB', value)
    rest, keep_for, m, burst = 0, 0, 1, burst * 1000000
  elseif size == 28 then
    high, low, rest, age, n, m, burst = parse('>I3I4I3I5I3I5I5', value)
    keep_for = 0
  elseif size >= 49 and (size - 49) % 28 == 0 then
    high, low, rest, seen, keep_for, n, m, burst = parse('>I3I4I7I7I7I7I7I7', value)
  end
  if high and high >= 6291456 and high < 10485760 then
    local zero, leases = (high - 8388608) * 4294967296 + low, nil
    seen = seen or zero + age
    if not is_possible(rest, seen, keep_for, n, m, burst) then return nil, nil, nil, nil, nil, nil, nil, 0 end
    for at = 50, size, 28 do
      leases = leases or {}
      leases[#leases + 1] = { parse('>I7I7I7I7', value, at) }
    end
    return zero, rest, seen, keep_for, n, m, burst, ends, leases
  end
  local until_then, inner = split(value)
  if until_then == 0 or ends > 0 then return nil, nil, nil, nil, nil, nil, nil, 0 end
  if inner == '' then return nil, nil, nil, nil, nil, nil, nil, until_then end
  return read_bucket(inner, until_then)
end

local function bucket_value(zero, rest, seen, keep_for, n, m, burst, ends, leases)
  local low, age = zero % 4294967296, seen - zero
  local high = 8388608 + (zero - low) / 4294967296
  local value
  if keep_for > 0 or leases or age < 0 or age >= 1099511627776 or n >= 16777216 or burst >= 1099511627776 then
    value = pack('>I3I4I7I7I7I7I7I7', high, low, rest, seen, keep_for, n, m, burst)
    for _, lease in ipairs(leases or {}) do value = value .. pack('>I7I7I7I7', lease[1], lease[2], lease[3], lease[4]) end
  elseif m == 1 and rest == 0 and age < 16777216 and n < 256 and burst < 256000000 and burst % 1000000 == 0 then
    value = pack('>I3I4I3BB', high, low, age, n, burst / 1000000)
  else
    value = pack('>I3I4I3I5I3I5I5', high, low, rest, age, n, m, burst)
  end
  if ends > 0 then return blocked(value, ends) end
  return value
end

return read_bucket, bucket_value
