-- Settles or extends one hold that holds.lua does not settle itself.

local bucket_of = ...
local read, put, keep, remove, extra = make 'state'
local drop = make('drop', put, remove, extra)
local split = make 'block-value'
local read_record, record_value = make 'record-value'
local NEWER = 9000000000000000

local change_bucket, flow, level_of, owed_span
local release, prolong

-- Returns what the bucket is charged for the hold in all, and how to move the instant at which it was empty: -1 later or 1 earlier (nil:
-- not), whole microseconds, n-ths of a microsecond.
local function settle_span(zero, rest, time, leases, n, m, burst, held, actual, mark)
  if actual > held then
    local room = 0
    if zero < time or (zero == time and rest == 0) then
      room = burst + level_of(zero, rest, n, m, time)
    else
      local span, left = flow(n, m, burst, 0)
      span, left = zero - span, rest - left
      if left < 0 then span, left = span - 1, left + n end
      room = level_of(span, left, n, m, time)
    end
    local more = math.min(actual - held, room)
    if more <= 0 then return held end
    local span, left = flow(n, m, more, 0)
    return held + more, -1, span, left
  end
  local late, late_rest = zero, rest
  if zero < time then late, late_rest = time, 0 end
  local room, left = flow(n, m, burst, 0)
  room, left = room - (late - mark), left - late_rest
  if left < 0 then room, left = room - 1, left + n end
  if actual == held or room < 0 or (room == 0 and left == 0) then return actual end
  local parts = (held - actual) % 1000000
  local back, back_rest = owed_span(n, m, (held - actual - parts) / 1000000)
  local more
  more, back_rest = flow(n, m, parts, back_rest)
  back = back + more
  if back < room or (back == room and back_rest <= left) then
    if held - actual > 2 * burst then back, back_rest = flow(n, m, 2 * burst, 0) end
    return actual, 1, back, back_rest
  end
  -- If the bucket has leases, only whole micro-tokens are given back.
  if leases then
    local whole
    if left > 0 then whole = level_of(0, n - left, n, m, room + 1) else whole = level_of(0, 0, n, m, room) end
    room, left = flow(n, m, whole, 0)
  end
  return actual, 1, room, left
end

-- This function and the next three return what a limit is charged in all; nothing if a newer version of Sluice wrote the state.
local function settle_bucket(state, descriptor, held, actual, mark)
  if not change_bucket then change_bucket, flow, level_of, owed_span = make('bucket-change', read, put, drop) end
  local n, m, burst, empty, empty_rest = bucket_of(descriptor)
  local charged
  local function span_of(zero, rest, time, leases)
    local sign, span, span_rest
    charged, sign, span, span_rest = settle_span(zero, rest, time, leases, n, m, burst, held, actual, mark)
    return sign, span, span_rest
  end
  change_bucket(state, n, m, burst, empty, empty_rest, true, span_of)
  return charged
end

local function settle_window(state, descriptor, held, actual, _, at)
  local charged
  make('window-change', read, put, drop)(state, descriptor, function(used, start)
    local amount = math.min(math.max(0, held - actual), used)
    if at < start then amount = 0 end
    amount = amount - math.max(0, math.min(actual - held, 2 * args[descriptor + 2] - used))
    charged = held - amount
    return amount
  end)
  return charged
end

local function settle_counter(state, descriptor, held, actual, _, at)
  local charged
  make('counter-change', read, put, drop)(state, descriptor, function(ended, current, previous, span, shared)
    local is_current = at >= ended - span
    local is_previous = not is_current and at >= ended - 2 * span
    local amount
    if actual < held then
      amount = math.min(held - actual, is_current and current or is_previous and previous or 0)
    else
      local limit = args[descriptor + 2]
      local room = 2 * limit - current - shared
      if is_previous then room = math.min(room, 2 * limit - previous) end
      amount = -math.max(0, math.min(actual - held, room))
    end
    charged = held - amount
    if is_previous then return 0, amount end
    return amount, 0
  end)
  return charged
end

local function settle_log(state, descriptor, held, actual, _, at)
  local change_log, charge_log, refund_log, rewrite_log, logs = make('log-change', put, keep, drop)
  local charged
  change_log(state, descriptor, function(log, time, first, used)
    charged = held
    local oldest = time - args[descriptor + 3]
    if actual < held then
      local taken = refund_log(log, first, oldest, held - actual, at)
      charged = held - taken
      return taken > 0
    end
    local more = math.min(actual - held, 2 * args[descriptor + 2] - used)
    if more <= 0 then return end
    charged = held + more
    local index = logs.first_after(log, at - 1, first)
    if at <= oldest or index == log.size then return charge_log(log, descriptor, first, time, more) end
    rewrite_log(log, index, { [index] = -more })
    return true
  end)
  return charged
end

-- `change_value` is `release` or `prolong` (slots.lua). Returns true if a newer version of Sluice wrote the state.
local function change_slots(state, change_value, ...)
  local value = read(state)
  if value and split(value) == NEWER then return true end
  local left, expires = change_value(value, ...)
  if left then put(state, left, expires) elseif left == false then drop(state, expires) end
end

local kernels = { [0] = settle_bucket, settle_window, settle_counter, settle_log, settle_bucket }

local function is_newer(state, descriptor)
  if args[descriptor] == 3 then
    local _, _, _, _, logs = make('log-change', put, keep, drop)
    return logs.open(state).ends == NEWER
  end
  local value = read(state)
  return value and split(value) == NEWER
end

-- Returns the index of the limit's name in the arguments, and the number of its call.
local function call_of(part, first, calls)
  for call = 1, calls do
    if args[first + 3 * call - 3] == part[1] then return first + 3 * call - 3, call end
  end
end

-- Each part of a hold's record is the charge of one limit. With `stands`, only slots are given back. Returns true if a newer version of
-- Sluice wrote a state.
local function settle_parts(key, first, calls, parts, at, stands)
  for _, part in ipairs(parts) do
    local index, call = call_of(part, first, calls)
    if index then
      local descriptor, actual = args[index + 1], args[index + 2]
      if args[descriptor] == 7 then
        if change_slots(key + call, release, args[first - 2], args[first - 1]) then return true end
        part[3] = 0
      elseif not stands then
        local charged = kernels[args[descriptor]](key + call, descriptor, part[2], actual, part[5], at)
        if not charged then return true end
        part[3], part[4] = charged, math.max(0, actual - charged)
      end
    end
  end
end

-- Returns true if a newer version of Sluice wrote a state.
local function prolong_slots(key, first, calls, parts, micros)
  for call = 1, calls do
    local name, descriptor = args[first + 3 * call - 3], args[first + 3 * call - 2]
    for _, part in ipairs(parts) do
      if part[1] == name and args[descriptor] == 7 then
        if change_slots(key + call, prolong, args[first - 2], args[first - 1], micros) then return true end
        break
      end
    end
  end
end

-- Whether a newer version of Sluice wrote one of several states: then none may change. A single state is checked when it is changed.
local function has_newer(key, first, calls)
  if calls < 2 then return false end
  for call = 1, calls do
    if is_newer(key + call, args[first + 3 * call - 2]) then return true end
  end
end

-- Returns status (listed in holds.lua), end and parts of the hold.
return function(key, mode, first, calls)
  local value = read(key)
  if value and split(value) == NEWER then return 5, 0, {} end
  local at, expires, settled, parts = read_record(value)
  if not at or now >= expires + 60000000 then return 0, 0, {} end
  if settled == 1 then return 4, expires, parts end
  if now >= expires then
    for _, part in ipairs(parts) do
      local index = call_of(part, first, calls)
      -- Too late to charge more: what was used beyond the charge is reported as overage.
      if mode == -1 and index then part[4] = math.max(0, args[index + 2] - part[3]) end
    end
    return 3, expires, parts
  end
  if has_newer(key, first, calls) then return 5, 0, {} end
  if not release then
    local _
    _, release, prolong = make 'slots'
  end
  local status = 2
  if mode < 0 then
    if settle_parts(key, first, calls, parts, at, mode == -2) then return 5, 0, {} end
    settled = 1
  else
    if prolong_slots(key, first, calls, parts, mode) then return 5, 0, {} end
    status, expires = 1, math.max(expires, now + mode)
  end
  put(key, record_value(at, expires, settled, parts), expires + 60000000)
  return status, expires, parts
end
