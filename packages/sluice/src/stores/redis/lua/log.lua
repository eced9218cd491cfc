-- The sliding window log kernel, with the numbers of its verdicts: a caller cannot compute them without the entries.
--
-- row         3, cost, limit, window, how many entries are kept

-- The most entries that are kept for a longer window of an earlier plan.
local MOST = 10000

-- The state in the plan's unit (law 7): all entries stay. A log without a state where it is as fresh as none.
local function adopt_log(log, row)
  local length = asked[row + 3]
  if not log.there or log.window == length then return log end
  local hold = log.window
  if log.hold > hold then hold = log.hold end
  if log.at + hold <= now then
    return { key = log.key, size = 0, skip = 0, base = 0, at = 0, sum = 0, window = 0, hold = 0, ends = log.ends, stored = 0, anew = true }
  end
  log.window, log.dirty = length, true
  if hold > length then log.hold = hold else log.hold = 0 end
  return log
end

-- First instant at which a cost fits that does not fit now. Entries from `last` on stand at `newest`.
local function fits_at(log, row, first, last, newest, used, cost)
  local index = first_through(log, through(log, first - 1) + used + cost - asked[row + 2], first)
  if index < last then newest = entry(log, index) end
  return newest + asked[row + 3]
end

-- remaining, replenishAfter, resetAfter
local function look_log(log, row, first, last, newest, used)
  local limit = asked[row + 2]
  local remaining, reset = 0, 0
  if limit > used then remaining = math.floor((limit - used) / 1000000) end
  if used > 0 then reset = newest + asked[row + 3] - now end
  local more = (remaining + 1) * 1000000
  if more > limit then return remaining, reset, reset end
  return remaining, fits_at(log, row, first, last, newest, used, more) - now, reset
end

local function used_of(log, row)
  local time = now
  if log.at > now then time = log.at end
  local first = first_after(log, time - asked[row + 3], log.skip)
  return time, first, through(log, log.size - 1) - through(log, first - 1)
end

-- Outcome (0 allowed, 1 denied, 2 impossible), retryAfter, remaining, replenishAfter, resetAfter, and the charge to apply if it is allowed.
local function decide_log(log, row, cost)
  local limit = asked[row + 2]
  local time, first, used = used_of(log, row)
  if cost > limit - used then
    if cost > limit then return 2, 0, look_log(log, row, first, log.size, log.at, used) end
    return 1, fits_at(log, row, first, log.size, time, used, cost) - now, look_log(log, row, first, log.size, log.at, used)
  end
  local from, hold = first, log.hold
  if hold > 0 then from = first_after(log, time - hold, log.skip) end
  local kept = log.size - from
  local merges = kept > 0 and log.at == time
  local most = asked[row + 4]
  if hold > 0 then most = MOST end
  if not merges and kept >= most then
    -- What is kept for another plan makes room first; otherwise charges are below one token, and the newest moves on.
    if from < first then from = from + 1 else merges = true end
  end
  if kept == 0 then hold = 0 end
  local last = log.size
  if merges then last = last - 1 end
  local remaining, replenish, reset = look_log(log, row, first, last, time, used + cost)
  return 0, 0, remaining, replenish, reset, { from, time, merges, cost, asked[row + 3], hold }
end

local function view_log(log, row)
  local _, first, used = used_of(log, row)
  return look_log(log, row, first, log.size, log.at, used)
end
