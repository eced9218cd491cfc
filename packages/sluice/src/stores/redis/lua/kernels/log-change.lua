-- Changes a log for a refund or the settlement of a hold.

local put, keep, drop = ...
local logs = make('log-value', put, keep)
local adopt_log, used_of, charge_of = make('log-adopt', logs)
local refund_log, rewrite_log = make('log-refund', logs, drop, put)

-- `change(log, time, first, used)` returns true if it has also written the log. `change_log` returns true if a newer version of Sluice
-- wrote the state.
local function change_log(state, descriptor, change)
  local stored = logs.open(state)
  if stored.ends == 9000000000000000 then return true end
  local log = adopt_log(stored, descriptor)
  if stored.there and not log.there then drop(state, log.ends) end
  local time, first, used = used_of(log, descriptor)
  if not change(log, time, first, used) and log.dirty then logs.save(log) end
end

local function charge_log(log, descriptor, first, time, cost)
  logs.charge(log, charge_of(log, descriptor, first, time, cost))
end

return change_log, charge_log, refund_log, rewrite_log, logs
