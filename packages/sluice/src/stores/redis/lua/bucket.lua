-- The token bucket kernel (algorithms/token-bucket.ts), as far as a store needs it: whether a call passes, and the state after it.
--
-- row         0, n, m, burst, and as lengths of time how long an empty bucket takes to be full (whole microseconds back, and n-ths of
--             one forward again) and the cost (whole microseconds, n-ths), then which form of value the plan fits
--
-- How many of `times` calls pass, one after the other; where the value changes, the new one and the instant until which it is needed.
local function bucket(value, row, times)
  local n, m, burst = asked[row + 1], asked[row + 2], asked[row + 3]
  local empty, empty_rest = asked[row + 4], asked[row + 5]
  local cost, cost_rest = asked[row + 6], asked[row + 7]
  local time, ends, passed = now, 0, 0
  local zero, rest, seen, hold, converted
  if value then
    local old_n, old_m, old_burst
    zero, rest, seen, hold, old_n, old_m, old_burst, ends = read_bucket(value, 0)
    if zero and (old_n ~= n or old_m ~= m or old_burst ~= burst) then
      zero, rest, seen, hold = adopt_bucket(zero, rest, seen, hold, old_n, old_m, old_burst, n, m, burst)
      converted = zero
    end
    if zero and seen > now then time = seen end
  end
  local low = time - empty
  if not zero then
    zero, rest, hold = low, empty_rest, 0
  elseif zero < low or (zero == low and rest <= empty_rest) then
    zero, rest = low, empty_rest
    if hold > 0 and time >= seen + hold then hold = 0 end
  end
  if ends > now then times = 0 end
  while passed < times do
    local moved, left = zero + cost, rest + cost_rest
    if left >= n then moved, left = moved + 1, left - n end
    if moved > time or (moved == time and left > 0) then break end
    zero, rest, passed = moved, left, passed + 1
  end
  if passed == 0 and not converted then return 0 end
  local expires = zero + empty
  if rest > empty_rest then expires = expires + 1 end
  if hold > 0 and time + hold > expires then expires = time + hold end
  if ends > expires then expires = ends end
  return passed, bucket_value(zero, rest, time, hold, n, m, burst, asked[row + 8], ends), expires
end
