-- Changes a bucket for a refund or the settlement of a hold.

local read, put, drop = ...
local read_bucket, bucket_value = make 'bucket-value'
local flow, cut, level_of, owed_span, latest_zero = make 'bucket-flow'
local out_on, settle, leased_until = make('bucket-leases', flow, cut)

-- `span_of(zero, rest, time, leases)` returns 1 to give tokens back or -1 to take tokens, then how long their refill takes: whole
-- microseconds and n-ths of a microsecond. It returns nil to change nothing. With `settles`, a bucket with leases is always written.
-- Returns true if a newer version of Sluice wrote the state.
local function change_bucket(state, n, m, burst, empty, empty_rest, settles, span_of)
  local time, ends = now, 0
  local value = read(state)
  local zero, rest, seen, keep_for, leases, converted
  if value then
    local old_n, old_m, old_burst
    zero, rest, seen, keep_for, old_n, old_m, old_burst, ends, leases = read_bucket(value, 0)
    if ends == 9000000000000000 then return true end
    if zero and (old_n ~= n or old_m ~= m or old_burst ~= burst) then
      local adopt_bucket = make('bucket-adopt', flow, cut, level_of, owed_span, latest_zero, out_on, settle)
      zero, rest, seen, keep_for, leases = adopt_bucket(zero, rest, seen, keep_for, old_n, old_m, old_burst, n, m, burst, leases)
      converted = true
    end
    if zero and seen > now then time = seen end
  end
  if leases then
    converted = converted or settles
    zero, rest, leases = settle(zero, rest, n, m, burst, leases, time)
  end
  local from, from_rest, kept, low = zero, rest, keep_for, time - empty
  if not zero then
    from, from_rest, kept = low, empty_rest, 0
  elseif zero < low or (zero == low and rest <= empty_rest) then
    from, from_rest = low, empty_rest
    if keep_for > 0 and time >= math.max(seen, zero) + keep_for then kept = 0 end
  end
  local sign, span, span_rest = span_of(from, from_rest, time, leases)
  if not sign then
    if not converted then return end
    if not zero then return drop(state, ends) end
  else
    zero, rest, keep_for = from, from_rest, kept
    -- A penalty lowers the bucket to one burst below empty at most, and does not change a bucket that is lower already.
    local most, most_rest = time + empty, 0
    if empty_rest > 0 then most, most_rest = most - 1, n - empty_rest end
    local latest = latest_zero(n, m, burst, time)
    if most > latest or (most == latest and most_rest > 0) then most, most_rest = latest, 0 end
    if zero > most or (zero == most and rest > most_rest) then most, most_rest = zero, rest end
    local sum = rest - sign * span_rest
    local left = sum % n
    zero, rest, seen = zero - sign * span + (sum - left) / n, left, time
    if sign < 0 and (zero > most or (zero == most and rest > most_rest)) then zero, rest = most, most_rest end
    if leases then zero, rest = cut(zero, rest, n, m, burst - out_on(leases), time) end
  end
  local expires = zero + empty
  if rest > empty_rest then expires = expires + 1 end
  if keep_for > 0 then expires = math.max(expires, math.min(math.max(seen, zero) + keep_for, 9007199254740991)) end
  if leases then
    expires = leased_until(zero, rest, seen, keep_for, n, m, burst, leases)
  elseif expires <= time then
    return drop(state, ends)
  end
  if ends > expires then expires = ends end
  put(state, bucket_value(zero, rest, seen, keep_for, n, m, burst, ends, leases), expires)
end

return change_bucket, flow, level_of, owed_span
