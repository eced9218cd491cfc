-- Decides groups of calls in order, each all or nothing (algorithms/group.ts). Returns the states as they were before, from which the
-- caller computes the verdicts; for calls of logs, which may be long, the verdicts themselves.
--
-- KEYS        the states, each once, those of logs last
-- ARGV[1]     a JSON array: time
--             1 to charge, or 0 for a peek; plus 2 for each state that may not be created
--             how many states are not of logs
--             how many numbers the next two sections have together
--             the limit descriptors (kernels/*.lua), one for each different limit, cost and phase (offset of the key's windows)
--             the indexes of the states that may not be created; a group that would create one is not charged
--             runs and groups in order. A run is 0, descriptor, first state, last state, times: for each of these states, `times` groups of
--             one call. A group is its number of calls, then state and descriptor of each. A descriptor is given by the index of its first
--             number in ARGV[1]
-- returns     the text of reply.lua. The value of a log is only until when its key is blocked (7 bytes). The numbers are, for each call of
--             a log: outcome, retryAfter, remaining, replenishAfter, resetAfter. The counts are how many groups passed, for each state of a
--             run and for each group

-- include: clock.lua

-- modules

local kernels, logs = {}, nil

-- Functions are made when a call needs them: defining those of all algorithms would cost more than a decision.
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
-- Not needed if all states are strings, at most 4,000, and the server's clock is used.
local read, put, keep
if ARGV[2] or time_arg ~= 0 or plain < #KEYS or plain > 4000 then read, put, keep = make 'state' end
local values = {}
if KEYS.found then
  -- guard.lua has read the states.
  values = KEYS.found
elseif ARGV[2] and ARGV[2] ~= '' then
  for state = 1, plain do values[state] = read(state) end
elseif plain > 0 then
  -- MGET returns nil for a key of another type. Lua limits the arguments of a function, hence the 4,000.
  values = call('MGET', unpack(KEYS, 1, math.min(plain, 4000)))
  for state = 4001, plain do values[state] = read(state) end
end
-- By state: the value to write, and the instant until which it must be kept.
local fresh, expires = {}, {}
local verdicts, size = {}, 0
local closed, charging = {}, args[2] % 2
for index = 5 + args[4] - (args[2] - charging) / 2, 4 + args[4] do closed[args[index]] = true end
local counts = {}

-- Replaces remaining, replenishAfter and resetAfter of a group's logs by those without the costs of the group.
local function add_uncharged(at, calls, head, seen)
  for index = at, at + 2 * calls - 2, 2 do
    local state, descriptor = args[index], args[index + 1]
    if args[descriptor] == 3 then
      verdicts[head + 3], verdicts[head + 4], verdicts[head + 5] = logs.view(seen[state], descriptor)
      head = head + 5
    end
  end
end

-- The first bytes of records by descriptor. False if these records need the wide form (record-value.lua).
local heads = {}
local function head_of(descriptor)
  local micros, held = args[descriptor + 1], args[descriptor + 5]
  local short = args[descriptor + 3] == 1 and micros < 1099511627776 and held < 1099511627776
  heads[descriptor] = short and pack('>BI7I5I4I5', 8 + args[descriptor + 2], now, micros, args[descriptor + 4], held)
  return heads[descriptor]
end

-- The common case of `group`: one call, and the record of its hold. Returns 1 if the group passed. Otherwise changes and returns nothing.
local function recorded(state, descriptor, record, plan)
  local head = heads[plan]
  if head == nil then head = head_of(plan) end
  if args[plan + 3] ~= 1 or fresh[record] or values[record] or closed[state] or closed[record] then return end
  local passed, value, needed, mark = (kernels[args[descriptor]] or kernel(args[descriptor]))(fresh[state] or values[state], descriptor, 1)
  if passed == 0 then return end
  local code = (mark or 0) ~= 0 and mark - now + 549755813888 or 0
  local form = '>I5'
  if not head or code < 0 or code >= 1099511627776 or (code == 0 and (mark or 0) ~= 0) then
    head = pack('>BI7I7I4I7', 10 + args[plan + 2], now, args[plan + 1], args[plan + 4], args[plan + 5])
    code, form = (mark or 0) ~= 0 and mark - now + 4503599627370496 or 0, '>I7'
  end
  fresh[state], expires[state] = value, needed
  fresh[record], expires[record] = head .. pack(form, code), now + args[plan + 1] + 60000000
  return 1
end

-- What `recorded` decides: buckets (0, 4), fixed windows (1) and sliding-window counters (2).
local WHOLE = { [0] = true, true, true, [4] = true }

-- Returns 1 if the group passed, otherwise 0.
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
      -- Slots (7): the calls of a holder in a group make one entry with the sum of their costs. So each is decided on the state before the
      -- group, with the costs of the earlier calls added.
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
      -- `values` of a log: until when its key is blocked (0: not blocked), or false if neither log nor block exists.
      if closed[args[index]] and not values[args[index]] then return 0 end
    end
    if charging == 0 then add_uncharged(at, calls, head, seen) end
    for state, value in pairs(states) do fresh[state], expires[state] = value, ends[state] end
    for state, charge in pairs(charges) do logs.charge(state, seen[state], charge) end
    return 1
  end
  -- Nothing is charged, but states that were converted to a changed limit are written (law 7 in ARCHITECTURE.md). The verdicts
  -- of logs are computed without the costs of this group (law 1).
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
  -- `%d` drops the fraction, which redis.call would write. Equal instants are formatted once.
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
