-- Computes complete verdicts, because the caller does not get the entries, which may be many.

local logs = ...
local entry, through, first_through = logs.entry, logs.through, logs.first_through
local adopt_log, used_of, charge_of = make('log-adopt', logs)

-- The first instant at which a cost fits. Entries from the index `last` on count as charged at the instant `newest`.
local function fits_at(log, descriptor, first, last, newest, used, cost)
  local index = first_through(log, through(log, first - 1) + used + cost - args[descriptor + 2], first)
  if index < last then newest = entry(log, index) end
  return newest + args[descriptor + 3]
end

-- Returns remaining, replenishAfter, resetAfter.
local function view_of(log, descriptor, first, last, newest, used)
  local limit = args[descriptor + 2]
  local remaining, reset = 0, 0
  if limit > used then remaining = math.floor((limit - used) / 1000000) end
  if used > 0 then reset = newest + args[descriptor + 3] - now end
  local more = (remaining + 1) * 1000000
  if more > limit then return remaining, reset, reset end
  return remaining, fits_at(log, descriptor, first, last, newest, used, more) - now, reset
end

-- Returns the outcome (0 allowed, 1 denied, 2 impossible), retryAfter, remaining, replenishAfter, resetAfter, and if allowed the charge.
local function decide_log(log, descriptor, cost)
  local limit = args[descriptor + 2]
  local time, first, used = used_of(log, descriptor)
  if cost > limit - used then
    if cost > limit then return 2, 0, view_of(log, descriptor, first, log.size, log.at, used) end
    return 1, fits_at(log, descriptor, first, log.size, time, used, cost) - now, view_of(log, descriptor, first, log.size, log.at, used)
  end
  local charge = charge_of(log, descriptor, first, time, cost)
  local last = log.size
  if charge.merges then last = last - 1 end
  local remaining, replenish, reset = view_of(log, descriptor, first, last, time, used + cost)
  return 0, 0, remaining, replenish, reset, charge
end

local function view_log(log, descriptor)
  local _, first, used = used_of(log, descriptor)
  return view_of(log, descriptor, first, log.size, log.at, used)
end

return adopt_log, decide_log, view_log
