-- In Lua, defining a function costs more than this whole step. So only buckets that need more use the functions of bucket.lua (the slow
-- path). `(a - a % n) / n` is the exact quotient, rounded down.
--
-- arguments   value, times, now; n, m, burst, empty, empty_rest, cost, cost_rest (bucket-descriptor.lua). For calls that may be charged
--             before their tokens are there also `ahead` (microseconds) and `capped`: the micro-tokens of this and earlier calls of the
--             group to this state
-- results     `passed`: how many of `times` equal calls pass. If the value changes: `written`, the new value, and `expires`, until when it
--             must be kept

local time, ends, passed = now, 0, 0
local zero, rest, seen, keep_for, leases, converted, written, expires
if value then
  local size = #value
  local high, low, age, old_n, old_m, old_burst, last
  if size == 12 then
    high, low, age, old_n, old_burst = parse('>I3I4I3BB', value)
    rest, keep_for, old_m, old_burst = 0, 0, 1, old_burst * 1000000
  elseif size == 28 then
    high, low, rest, age, old_n, old_m, old_burst = parse('>I3I4I3I5I3I5I5', value)
    keep_for = 0
  elseif size == 49 then
    high, low, rest, last, keep_for, old_n, old_m, old_burst = parse('>I3I4I7I7I7I7I7I7', value)
  end
  -- Reads values of the present plan. If `high` is below 10485504, `zero + age` is below 2^53. bucket-value.lua checks all others.
  local same = old_n == n and old_m == m and old_burst == burst and (not last or last <= 9007199254740991 and keep_for <= 3200000000000000)
  if same and high >= 6291456 and high < 10485504 and rest < n then
    zero = (high - 8388608) * 4294967296 + low
    seen = last or zero + age
  else
    made = made or slow_path(now, pack, parse)
    zero, rest, seen, keep_for, old_n, old_m, old_burst, ends, leases = made.read(value, 0)
  end
  if zero then
    if old_n ~= n or old_m ~= m or old_burst ~= burst then
      zero, rest, seen, keep_for, leases = made.adopt(zero, rest, seen, keep_for, old_n, old_m, old_burst, n, m, burst, leases)
      converted = zero
    end
    if zero and seen > now then time = seen end
    if leases then
      zero, rest, leases = made.settle(zero, rest, n, m, burst, leases, time)
    end
  end
end
local oldest = time - empty
if not zero then
  zero, rest, keep_for = oldest, empty_rest, 0
elseif zero < oldest or (zero == oldest and rest <= empty_rest) then
  -- The bucket is at most full.
  if keep_for > 0 and time >= math.max(seen, zero) + keep_for then keep_for = 0 end
  zero, rest = oldest, empty_rest
end
local open, latest = times, time
if ends > now then open = 0 end
-- When a call that was charged ahead starts, the leased tokens may be spent at the same instant. So its cost and these together must fit
-- into the burst.
if ahead and capped <= burst - (leases and made.out_on(leases) or 0) then latest = time + ahead end
while passed < open do
  local moved, left = zero + cost, rest + cost_rest
  if left >= n then moved, left = moved + 1, left - n end
  if moved > latest or (moved == latest and left > 0) then break end
  zero, rest, passed = moved, left, passed + 1
end
if passed > 0 or converted then
  expires = zero + empty
  if rest > empty_rest then expires = expires + 1 end
  local age, low = time - zero, zero % 4294967296
  if ends > 0 or leases then
    made = made or slow_path(now, pack, parse)
    written = made.value(zero, rest, time, keep_for, n, m, burst, ends, leases)
    if leases then
      expires = made.expires(zero, rest, time, keep_for, n, m, burst, leases)
    elseif keep_for > 0 then
      expires = math.max(expires, math.min(math.max(time, zero) + keep_for, 9007199254740991))
    end
    if ends > expires then expires = ends end
  elseif keep_for > 0 or age < 0 or age >= 1099511627776 or n >= 16777216 or burst >= 1099511627776 then
    written = pack('>I3I4I7I7I7I7I7I7', 8388608 + (zero - low) / 4294967296, low, rest, time, keep_for, n, m, burst)
    if keep_for > 0 then expires = math.max(expires, math.min(math.max(time, zero) + keep_for, 9007199254740991)) end
  elseif m == 1 and rest == 0 and age < 16777216 and n < 256 and burst < 256000000 and burst % 1000000 == 0 then
    written = pack('>I3I4I3BB', 8388608 + (zero - low) / 4294967296, low, age, n, burst / 1000000)
  else
    written = pack('>I3I4I3I5I3I5I5', 8388608 + (zero - low) / 4294967296, low, rest, age, n, m, burst)
  end
end
