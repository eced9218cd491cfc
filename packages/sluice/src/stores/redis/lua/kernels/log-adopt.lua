-- descriptor  the index in `args` of the number 3 (the kind), cost, limit, window, the most entries that are kept

local logs = ...
local first_after, through = logs.first_after, logs.through

-- The most entries of a log that is also kept for an earlier, longer window of the key.
local MAX_KEPT = 10000

-- Converts a log to the call's limit. If it equals the initial state, returns a log without entries.
local function adopt_log(log, descriptor)
  local length = args[descriptor + 3]
  if not log.there or log.window == length then return log end
  local keep_for = log.window
  if log.keep_for > keep_for then keep_for = log.keep_for end
  if log.at + keep_for <= now then
    return logs.new(log.state, log.ends)
  end
  log.window, log.dirty = length, true
  if keep_for > length then log.keep_for = keep_for else log.keep_for = 0 end
  return log
end

local function used_of(log, descriptor)
  local time = now
  if log.at > now then time = log.at end
  local first = first_after(log, time - args[descriptor + 3], log.skip)
  return time, first, through(log, log.size - 1) - through(log, first - 1)
end

-- Returns the argument `charge` of `charge_log` (log-value.lua). Its `from` drops entries that no limit of this key needs.
local function charge_of(log, descriptor, first, time, cost)
  local from, keep_for, most = first, log.keep_for, args[descriptor + 4]
  if keep_for > 0 then from, most = first_after(log, time - keep_for, log.skip), MAX_KEPT end
  local kept = log.size - from
  local merges = kept > 0 and log.at == time
  if not merges and kept >= most then
    -- The log is full. If only an earlier limit needs the oldest entry, it is dropped. Otherwise charges of less than a token have filled
    -- the log, and this charge is added to the newest entry.
    if from < first then from = from + 1 else merges = true end
  end
  if kept == 0 then keep_for = 0 end
  return { from = from, time = time, merges = merges, cost = cost, window = args[descriptor + 3], keep_for = keep_for }
end

return adopt_log, used_of, charge_of
