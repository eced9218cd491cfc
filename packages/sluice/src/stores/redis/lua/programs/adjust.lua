-- Gives tokens back, or takes tokens even if they are not there (algorithms/*.ts).
--
-- KEYS        the state of each call
-- ARGV[1]     a JSON array: time; when the refunded call was charged (from its receipt), -1 if unknown; how many calls; for each call the
--             index of its descriptor, and 1 to give back or -1 to take; then the descriptors (kernels/*.lua), with the amount instead of
--             the cost
-- returns     the indexes of calls that changed nothing, because a newer version of Sluice wrote their states

-- include: clock.lua

-- modules

local receipt = args[2]
local read, put, keep, remove, extra = make 'state'
local drop = make('drop', put, remove, extra)

local function adjust_bucket(state, descriptor, sign)
  local change_bucket = make('bucket-change', read, put, drop)
  -- inline: bucket-descriptor.lua
  return change_bucket(state, n, m, burst, empty, empty_rest, false, function(_, _, time)
    if sign > 0 and receipt >= 0 and receipt <= time - empty then return nil end
    return sign, cost, cost_rest
  end)
end

local function adjust_window(state, descriptor, sign)
  local amount, limit = args[descriptor + 1], args[descriptor + 2]
  return make('window-change', read, put, drop)(state, descriptor, function(used, start)
    if sign < 0 then return -math.max(0, math.min(2 * limit - used, amount)) end
    if receipt >= 0 and receipt < start then return 0 end
    return math.min(amount, used)
  end)
end

local function adjust_counter(state, descriptor, sign)
  local amount, limit = args[descriptor + 1], args[descriptor + 2]
  return make('counter-change', read, put, drop)(state, descriptor, function(ended, current, previous, span, shared)
    if sign < 0 then return -math.max(0, math.min(2 * limit - current - shared, amount)), 0 end
    if receipt >= 0 and receipt < ended - 2 * span then return 0, 0 end
    local start = ended - span
    local of_current, of_previous = math.min(current, amount), 0
    if receipt >= 0 and receipt < start then of_current = 0 end
    if receipt < start then of_previous = math.min(previous, amount - of_current) end
    return of_current, of_previous
  end)
end

local function adjust_log(state, descriptor, sign)
  local change_log, charge_log, refund_log = make('log-change', put, keep, drop)
  local amount = args[descriptor + 1]
  return change_log(state, descriptor, function(log, time, first, used)
    if sign > 0 then return refund_log(log, first, time - args[descriptor + 3], amount, receipt) > 0 end
    local added = math.min(amount, 2 * args[descriptor + 2] - used)
    if added > 0 then charge_log(log, descriptor, first, time, added) end
  end)
end

-- Changes nothing: only a holder can give back a slot, and a penalty has no holder.
local function adjust_slots(state)
  local split = make 'block-value'
  local value = read(state)
  return value and split(value) == 9000000000000000
end

local kernels = { [0] = adjust_bucket, adjust_window, adjust_counter, adjust_log, adjust_bucket, [7] = adjust_slots }
local newer = {}
for index = 1, args[3] do
  local descriptor = args[2 + 2 * index]
  if kernels[args[descriptor]](index, descriptor, args[3 + 2 * index]) then newer[#newer + 1] = index end
end
return newer
