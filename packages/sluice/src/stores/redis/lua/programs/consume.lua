-- Decides groups of calls, each all or nothing, in order: the reference driver (algorithms/group.ts), replayed. What follows from the
-- plan, the state and the time is left to the caller, which replays the kernels on the states as they were: the answer is those,
-- the time, and what passed. For logs, whose states may be long, it returns the verdicts. The sections are those of stores/batch/batch.ts.
--
-- KEYS        the states, each once, those of logs last
-- ARGV[1]     time; 1 to charge or 0 for a peek, and 2 more for each state that may not be made; how many states are not of logs; how many
--             numbers follow: the limit descriptors, one for each different limit and cost (see the kernels), and the states that may not
--             be made: a group that would make one is not charged; then, until the end, either
--             0, descriptor, first state, last state, times: groups of one call each, for every state from first to last so many in a
--             row, or a group: how many calls, and for each of them state and descriptor. A descriptor is named by the index of its first
--             number.
-- returns     the text of reply.lua: of a log the end of its block (7 bytes) is its value; for each call of a log the numbers outcome, retryAfter,
--             remaining, replenishAfter, resetAfter; counts of each run and each group

-- include: clock.lua

-- modules

local kernels, logs = {}, nil

-- Kernels are made when they are first needed: making functions costs more than a decision.
local function kernel(tag)
  if tag == 1 then
    kernels[1] = make 'window'
  elseif tag == 2 then
    kernels[2] = make 'counter'
  elseif tag == 6 then
    kernels[6] = make 'record'
  elseif tag == 7 then
    kernels[7] = make 'slots'
  else
    local made
    local function slow_path()
      return make 'bucket'
    end
    local function bucket(value, descriptor, times, before)
      -- inline: bucket-descriptor.lua
      local ahead, capped
      if args[descriptor] == 5 then
        ahead, capped = args[descriptor + 8], args[descriptor + 9] + (before or 0)
      end
      -- inline: bucket-step.lua
      return passed, written, expires, zero
    end
    kernels[0], kernels[4], kernels[5] = bucket, bucket, bucket
  end
  return kernels[tag]
end

local plain = args[3]
-- Strings on the server's clock need none of these.
local read, put, keep
if ARGV[2] or time_arg ~= 0 or plain < #KEYS or plain > 4000 then read, put, keep = make 'state' end
local values = {}
if ARGV[2] and ARGV[2] ~= '' then
  for state = 1, plain do values[state] = read(state) end
elseif plain > 0 then
  -- What is of another type is nil to MGET. A function takes so many arguments and not many more.
  values = call('MGET', unpack(KEYS, 1, math.min(plain, 4000)))
  for state = 4001, plain do values[state] = read(state) end
end
-- By state: the value to write and until when it is needed.
local fresh, expires = {}, {}
local verdicts, size = {}, 0
local closed, charging = {}, args[2] % 2
for index = 5 + args[4] - (args[2] - charging) / 2, 4 + args[4] do closed[args[index]] = true end
local counts = {}

-- Writes into the verdicts what is left of a group's logs without any of its costs.
local function add_uncharged(at, calls, head, seen)
  for index = at, at + 2 * calls - 2, 2 do
    local state, descriptor = args[index], args[index + 1]
    if args[descriptor] == 3 then
      verdicts[head + 3], verdicts[head + 4], verdicts[head + 5] = logs.view(seen[state], descriptor)
      head = head + 5
    end
  end
end

-- By descriptor: what the records of this call begin with, where they are short (record-value.lua) and record one call.
local heads = {}
local function head_of(descriptor)
  local micros, held = args[descriptor + 1], args[descriptor + 5]
  local short = args[descriptor + 3] == 1 and micros < 1099511627776 and held < 1099511627776
  heads[descriptor] = short and pack('>BI7I5I4I5', 8 + args[descriptor + 2], now, micros, args[descriptor + 4], held)
  return heads[descriptor]
end

-- As `group` for one call and its record, which is not there. 1 where they passed; nothing where there is more to do.
local function recorded(state, descriptor, record, plan)
  local head = heads[plan]
  if head == nil then head = head_of(plan) end
  if not head or fresh[record] or values[record] or closed[state] or closed[record] then return end
  local passed, value, needed, mark = (kernels[args[descriptor]] or kernel(args[descriptor]))(fresh[state] or values[state], descriptor, 1)
  if passed == 0 then return end
  local code = (mark or 0) ~= 0 and mark - now + 549755813888 or 0
  if code < 0 or code >= 1099511627776 or (code == 0 and (mark or 0) ~= 0) then return end
  fresh[state], expires[state] = value, needed
  fresh[record], expires[record] = head .. pack('>I5', code), now + args[plan + 1] + 60000000
  return 1
end

-- Algorithms with a state that is read and written whole, and whose calls of a group do not depend on each other.
local WHOLE = { [0] = true, true, true, [4] = true }

-- 1 where a group passed.
local function group(at, calls)
  if calls == 2 and args[args[at + 3]] == 6 and WHOLE[args[args[at + 1]]] then
    local passed = recorded(args[at], args[at + 1], args[at + 2], args[at + 3])
    if passed then return passed end
  end
  local open = true
  local states, ends, seen, taken, charges, marks = {}, {}, {}, {}, {}, {}
  local head = size
  for index = at, at + 2 * calls - 2, 2 do
    local state, descriptor = args[index], args[index + 1]
    if args[descriptor] == 3 then
      if not seen[state] then seen[state] = logs.adopt(logs.of(state), descriptor) end
      local log, cost = seen[state], (taken[state] or 0) + args[descriptor + 1]
      taken[state] = cost
      local outcome
      outcome, verdicts[size + 2], verdicts[size + 3], verdicts[size + 4], verdicts[size + 5], charges[state] =
        logs.decide(log, descriptor, cost)
      verdicts[size + 1] = outcome
      size = size + 5
      marks[#marks + 1] = 0
      if outcome > 0 or log.ends > now then open = false end
    elseif open then
      -- A holder takes slots once: those of all its calls.
      local before = args[descriptor] ~= 7 and states[state] or fresh[state] or values[state]
      local passed, value, needed, mark =
        (kernels[args[descriptor]] or kernel(args[descriptor]))(before, descriptor, 1, taken[state], marks)
      marks[#marks + 1] = mark or 0
      if passed == 0 then open = false else states[state], ends[state] = value, needed end
      if args[descriptor] == 5 then taken[state] = (taken[state] or 0) + args[descriptor + 9] end
      if args[descriptor] == 7 then taken[state] = (taken[state] or 0) + args[descriptor + 1] end
    end
  end
  if open then
    for index = at, at + 2 * calls - 2, 2 do
      -- A log says by a number that it is there.
      if closed[args[index]] and not values[args[index]] then return 0 end
    end
    if charging == 0 then add_uncharged(at, calls, head, seen) end
    for state, value in pairs(states) do fresh[state], expires[state] = value, ends[state] end
    for state, charge in pairs(charges) do logs.charge(state, seen[state], charge) end
    return 1
  end
  -- Nothing is charged: conversions to a changed limit are written (law 7), and what is left is seen without any of the group's costs (law 1).
  add_uncharged(at, calls, head, seen)
  for index = at, at + 2 * calls - 2, 2 do
    local state, descriptor = args[index], args[index + 1]
    if args[descriptor] ~= 3 then
      local _, value, needed = (kernels[args[descriptor]] or kernel(args[descriptor]))(fresh[state] or values[state], descriptor, 0)
      if value then fresh[state], expires[state] = value, needed end
    end
  end
  return 0
end

if plain < #KEYS then
  local all, open = make('log-value', put, keep), {}
  local adopt_log, decide_log, view_log = make('log', all)
  logs = {
    of = function(state)
      if not open[state] then open[state] = all.open(state) end
      return open[state]
    end,
    adopt = adopt_log,
    decide = decide_log,
    view = view_log,
    charge = function(state, log, charge)
      open[state] = log
      all.charge(log, charge)
    end,
    save = function()
      for _, log in pairs(open) do
        if log.dirty then all.save(log) end
      end
    end,
  }
  for state = plain + 1, #KEYS do
    local log = logs.of(state)
    values[state] = (log.there or log.ends > 0) and log.ends
  end
end

local at, last = 5 + args[4], #args
while at <= last do
  local calls = args[at]
  local first, final, descriptor, times = 1, 1, 0, 1
  if calls == 0 then descriptor, first, final, times = args[at + 1], args[at + 2], args[at + 3], args[at + 4] end
  for state = first, final do
    local passed, value, needed
    if calls == 0 then
      passed, value, needed = (kernels[args[descriptor]] or kernel(args[descriptor]))(fresh[state] or values[state], descriptor, times)
      if closed[state] and not values[state] then
        passed = 0
      elseif value then
        fresh[state], expires[state] = value, needed
      end
    else
      passed = group(at + 1, calls)
    end
    counts[#counts + 1] = passed
  end
  at = at + 5
  if calls > 0 then at = at - 4 + 2 * calls end
end

if charging == 1 then
  -- A number would be written with all digits that it could have. Records of one call mostly end at once.
  local last, text
  for state, value in pairs(fresh) do
    if put then
      put(state, value, expires[state])
    else
      if expires[state] ~= last then last, text = expires[state], string.format('%d', expires[state] / 1000 + 1) end
      call('SET', KEYS[state], value, 'PXAT', text)
    end
  end
  if logs then logs.save() end
end

for state = plain + 1, #KEYS do values[state] = values[state] and pack('>I7', values[state]) end
local numbers = verdicts
-- inline: reply.lua
