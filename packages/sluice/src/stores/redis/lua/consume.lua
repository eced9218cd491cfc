-- Decides groups of calls, each all or nothing, on the server's clock: the reference driver (algorithms/group.ts), replayed.
--
-- KEYS        the states, each once
-- ARGV[1]     time in microseconds since 1970; 0 for the server's own clock
-- ARGV[2]     1 to charge, 0 to look
-- ARGV[3]     number of groups; then for each group the number of its calls, and for each call
--             index into KEYS, algorithm tag, cost in micro-tokens, and the plan's numbers (algorithm's codec)
-- returns     for each group: outcome (0 allowed, 1 denied, 2 impossible), time in microseconds, and for each of its calls
--             outcome, retryAfter, remaining, replenishAfter, resetAfter (microseconds from that time); whole numbers all

-- include: token-bucket.lua

local algorithms = { tb = token_bucket }

-- A state given a time of its own lives this much longer (milliseconds): a test's clock stands still between calls.
local SLACK = 60000

local given = tonumber(ARGV[1])
local now = given
if given == 0 then
  local time = redis.call('TIME')
  now = tonumber(time[1]) * 1000000 + tonumber(time[2])
end
local charging = ARGV[2] == '1'

local states = {}
local dirty = {}

-- What is no readable state (another type, another format) is none: it is replaced by the next charge.
local function load(index, algorithm)
  local state = states[index]
  if state == nil then
    local text = redis.pcall('GET', KEYS[index])
    state = type(text) == 'string' and algorithm.decode(text) or false
    states[index] = state
  end
  return state or nil
end

local reply = {}
local at = 4

local function group(calls)
  local adopted, taken, steps = {}, {}, {}
  local outcome = 0
  for i = 1, calls do
    local index = tonumber(ARGV[at])
    local algorithm = algorithms[ARGV[at + 1]]
    local cost = tonumber(ARGV[at + 2])
    local plan = algorithm.plan(at + 3)
    at = at + 3 + algorithm.width
    if taken[index] == nil then
      taken[index] = 0
      local state = load(index, algorithm)
      adopted[index] = state and algorithm.adopt(plan, state, now) or false
    end
    taken[index] = taken[index] + cost
    local step = algorithm.decide(plan, adopted[index] or nil, now, taken[index])
    step.index, step.algorithm, step.plan = index, algorithm, plan
    steps[i] = step
    if step.outcome > outcome then outcome = step.outcome end
  end
  reply[#reply + 1] = outcome
  reply[#reply + 1] = now
  for i = 1, calls do
    local step = steps[i]
    local index, algorithm = step.index, step.algorithm
    local kept = adopted[index] or nil
    local state = kept
    local view = step
    if outcome == 0 then
      state = step.state
    else
      view = algorithm.view(step.plan, kept, now)
    end
    if state and state ~= states[index] then
      states[index] = state
      dirty[index] = algorithm
    end
    reply[#reply + 1] = step.outcome
    reply[#reply + 1] = step.retry_after
    reply[#reply + 1] = view.remaining
    reply[#reply + 1] = view.replenish_after
    reply[#reply + 1] = view.reset_after
  end
end

for _ = 1, tonumber(ARGV[3]) do
  local calls = tonumber(ARGV[at])
  at = at + 1
  group(calls)
end

if charging then
  for index, algorithm in pairs(dirty) do
    local state = states[index]
    local ttl = math.max(1, math.ceil((algorithm.expires_at(state) - now) / 1000))
    if given ~= 0 then ttl = ttl + SLACK end
    redis.call('SET', KEYS[index], algorithm.encode(state), 'PX', string.format('%.0f', ttl))
  end
end

return reply
