-- Gives tokens back, or takes them unconditionally, call by call: the `adjust` of each kernel, replayed.
--
-- KEYS        the states, one for each call
-- ARGV[1]     time; the receipt, -1 for none; how many calls; for each call the index of its descriptor and 1 to give back or -1 to
--             take; the limit descriptors (see the kernels), with the amount instead of the cost
-- returns     the indexes of calls that change nothing, because a newer version wrote their states

-- include: clock.lua

-- modules

local receipt = args[2]
local read, put, keep, remove, extra = make 'state'
local drop = make('drop', put, remove, extra)
-- The end of the block for which a state of a newer version counts.
local NEWER = 9000000000000000

local function adjust_bucket(state, descriptor, sign)
  local read_bucket, bucket_value = make 'bucket-value'
  local flow, cut, level_of, owed_span, latest_zero = make 'bucket-flow'
  local out_on, settle, leased_until = make('bucket-leases', flow, cut)
  -- inline: bucket-descriptor.lua
  local time, ends = now, 0
  local value = read(state)
  local zero, rest, seen, keep_for, leases, converted
  if value then
    local old_n, old_m, old_burst
    zero, rest, seen, keep_for, old_n, old_m, old_burst, ends, leases = read_bucket(value, 0)
    if ends == NEWER then return true end
    if zero and (old_n ~= n or old_m ~= m or old_burst ~= burst) then
      local adopt_bucket = make('bucket-adopt', flow, cut, level_of, owed_span, latest_zero, out_on, settle)
      zero, rest, seen, keep_for, leases = adopt_bucket(zero, rest, seen, keep_for, old_n, old_m, old_burst, n, m, burst, leases)
      converted = true
    end
    if zero and seen > now then time = seen end
  end
  if sign > 0 and receipt >= 0 and receipt <= time - empty then
    if not converted then return end
    if not zero then return drop(state, ends) end
  else
    if leases then zero, rest, leases = settle(zero, rest, n, m, burst, leases, time) end
    local low = time - empty
    if not zero then
      zero, rest, keep_for = low, empty_rest, 0
    elseif zero < low or (zero == low and rest <= empty_rest) then
      zero, rest = low, empty_rest
      if keep_for > 0 and time >= seen + keep_for then keep_for = 0 end
    end
    -- Penalties go to one burst under empty and not further, unless a change of the limit has left it deeper.
    local most, most_rest = time + empty, 0
    if empty_rest > 0 then most, most_rest = most - 1, n - empty_rest end
    local latest = latest_zero(n, m, burst, time)
    if most > latest or (most == latest and most_rest > 0) then most, most_rest = latest, 0 end
    if zero > most or (zero == most and rest > most_rest) then most, most_rest = zero, rest end
    local sum = rest - sign * cost_rest
    local left = sum % n
    zero, rest, seen = zero - sign * cost + (sum - left) / n, left, time
    if sign < 0 and (zero > most or (zero == most and rest > most_rest)) then zero, rest = most, most_rest end
    if leases then zero, rest = cut(zero, rest, n, m, burst - out_on(leases), time) end
  end
  local expires = zero + empty
  if rest > empty_rest then expires = expires + 1 end
  if keep_for > 0 and seen + keep_for > expires then expires = seen + keep_for end
  if leases then
    expires = leased_until(zero, rest, seen, keep_for, n, m, burst, leases)
  elseif expires <= time then
    return drop(state, ends)
  end
  if ends > expires then expires = ends end
  put(state, bucket_value(zero, rest, seen, keep_for, n, m, burst, ends, leases), expires)
end

local function adjust_window(state, descriptor, sign)
  local read_window, window_value, window_until = make 'window-value'
  local adopt_window, begun, part_of, turn_of = make('window-adopt', window_until)
  local amount, limit = args[descriptor + 1], args[descriptor + 2]
  local ends = 0
  local value = read(state)
  local finish, count, span, turn, converted
  if value then
    local there
    finish, count, span, turn, ends = read_window(value)
    if ends == NEWER then return true end
    there = finish
    if finish then finish, count, span, turn, converted = adopt_window(finish, count, span, turn, descriptor) end
    if there and not finish then drop(state, ends) end
  end
  local last, long, who, taken = finish, span, turn, count
  if not (finish and now < finish) then
    last, long, who = begun(finish, span, turn, descriptor)
    taken = 0
  end
  local start, base, used
  start, base, used, long, who = part_of(last, taken, long, who, descriptor)
  if sign > 0 then
    if used > 0 and not (receipt >= 0 and receipt < start) then
      taken, converted = base + used - math.min(amount, used), true
      if taken == 0 and who < 4 then return drop(state, ends) end
      finish, count, span, turn = last, taken, long, turn_of(who, taken, limit)
    end
  elseif used < 2 * limit then
    taken, converted = base + math.min(2 * limit, used + amount), true
    finish, count, span, turn = last, taken, long, turn_of(who, taken, limit)
  end
  if not converted then return end
  put(state, window_value(finish, count, span, turn, ends), math.max(window_until(finish, span, turn), ends))
end

local function adjust_counter(state, descriptor, sign)
  local read_counter, counter_value = make 'counter-value'
  local adopt_counter, rolled, share = make 'counter-adopt'
  local amount, limit, length = args[descriptor + 1], args[descriptor + 2], args[descriptor + 3]
  local ends = 0
  local value = read(state)
  local finish, current, previous, span, absent, converted
  if value then
    local there
    finish, current, previous, span, absent, ends = read_counter(value)
    if ends == NEWER then return true end
    there = finish
    if finish then
      finish, current, previous, span, absent, converted = adopt_counter(finish, current, previous, span, absent, descriptor)
    end
    if there and not finish then drop(state, ends) end
  end
  local kept = finish and now < finish
  local ended, now_current, now_previous = rolled(finish, current, previous, length)
  if not kept then span, absent = length, 0 end
  if sign < 0 then
    local room = 2 * limit - now_current - share(ended, now_previous, span, descriptor)
    if room > 0 then
      finish, current, previous, converted = ended, now_current + math.min(room, amount), now_previous, true
    end
  elseif not (receipt >= 0 and receipt < ended - 2 * span) then
    local start = ended - span
    local of_current, of_previous = math.min(now_current, amount), 0
    if receipt >= 0 and receipt < start then of_current = 0 end
    if receipt < start then of_previous = math.min(now_previous, amount - of_current) end
    if of_current + of_previous > 0 then
      finish, current, previous, converted = ended, now_current - of_current, now_previous - of_previous, true
      if current + previous == 0 then return drop(state, ends) end
    end
  end
  if not converted then return end
  local expires = finish
  if current > 0 then expires = finish + span end
  put(state, counter_value(finish, current, previous, span, absent, ends), math.max(expires, ends))
end

local function adjust_log(state, descriptor, sign)
  local logs = make('log-value', put, keep)
  local adopt_log, used_of, charge_of = make('log-adopt', logs)
  local stored = logs.open(state)
  if stored.ends == NEWER then return true end
  local log = adopt_log(stored, descriptor)
  if stored.there and not log.there then drop(state, log.ends) end
  local time, first, used = used_of(log, descriptor)
  if sign > 0 then
    local refund_log = make('log-refund', logs, drop, put, receipt)
    if refund_log(log, first, time - args[descriptor + 3], args[descriptor + 1]) then return end
  else
    local added = math.min(args[descriptor + 1], 2 * args[descriptor + 2] - used)
    if added > 0 then logs.charge(log, charge_of(log, descriptor, first, time, added)) end
  end
  if log.dirty then logs.save(log) end
end

local kernels = { [0] = adjust_bucket, adjust_window, adjust_counter, adjust_log, adjust_bucket }
local newer = {}
for index = 1, args[3] do
  local descriptor = args[2 + 2 * index]
  if kernels[args[descriptor]](index, descriptor, args[3 + 2 * index]) then newer[#newer + 1] = index end
end
return newer
