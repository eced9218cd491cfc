-- Decides groups of calls, each all or nothing, on the server's clock: the reference driver (algorithms/group.ts), replayed.
-- It is run for every decision, so it keeps to few closures and tables: those are what costs time here.
--
-- KEYS        the states, each once
-- ARGV[1]     time in microseconds since 1970; 0 for the server's own clock
-- ARGV[2]     1 to charge, 0 to look
-- ARGV[3]     number of groups; then for each group the number of its calls, and for each call
--             index into KEYS, cost in micro-tokens, and the plan: n, m, burst
-- returns     for each group: outcome (0 allowed, 1 denied, 2 impossible), time in microseconds, and for each of its calls
--             outcome, retryAfter, remaining, replenishAfter, resetAfter (microseconds from that time); whole numbers all

-- include: token-bucket.lua

local ARGV, KEYS, tonumber = ARGV, KEYS, tonumber
-- A state given a time of its own lives this much longer (milliseconds): a test's clock stands still between calls.
local SLACK = 60000

local given = tonumber(ARGV[1])
local now = given
if given == 0 then
  local time = redis.call('TIME')
  now = time[1] * 1000000 + time[2]
end

-- By index: the state (false where there is none), and where it must be written, its time to live in microseconds.
local states, lives = {}, {}
local reply, size, at = {}, 0, 4

for _ = 1, tonumber(ARGV[3]) do
  local calls = tonumber(ARGV[at])
  local first, head = at + 1, size + 1
  local outcome = 0
  local taken = {}
  local charged = {}
  at, size = first, size + 2
  for _ = 1, calls do
    local index, cost = tonumber(ARGV[at]), tonumber(ARGV[at + 1])
    local n, m, burst = tonumber(ARGV[at + 2]), tonumber(ARGV[at + 3]), tonumber(ARGV[at + 4])
    at = at + 5
    local state = states[index]
    if state == nil then
      state = load_state(KEYS[index])
      states[index] = state
    end
    if taken[index] then
      cost = cost + taken[index]
    elseif state and not (state[5] == n and state[6] == m and state[7] == burst) then
      state = adopt(state, n, m, burst, now)
      states[index] = state
      -- The conversion is written whatever the group's outcome (law 7).
      if state then lives[index] = life(state, now) end
    end
    taken[index] = cost
    local found, retry_after, remaining, replenish_after, reset_after, after = decide(state, n, m, burst, now, cost)
    if found > outcome then outcome = found end
    charged[index] = after
    reply[size + 1] = found
    reply[size + 2] = retry_after
    reply[size + 3] = remaining
    reply[size + 4] = replenish_after
    reply[size + 5] = reset_after
    size = size + 5
  end
  reply[head] = outcome
  reply[head + 1] = now
  if outcome == 0 then
    for index, state in pairs(charged) do
      states[index] = state
      lives[index] = state[8] or life(state, now)
    end
  else
    -- Nothing was charged: what is left is seen without any of the group's costs (law 1).
    for call = 0, calls - 1 do
      local from, to = first + call * 5, head + 2 + call * 5
      local n, m, burst = tonumber(ARGV[from + 2]), tonumber(ARGV[from + 3]), tonumber(ARGV[from + 4])
      local _, _, remaining, replenish_after, reset_after = decide(states[tonumber(ARGV[from])], n, m, burst, now, 0)
      reply[to + 2] = remaining
      reply[to + 3] = replenish_after
      reply[to + 4] = reset_after
    end
  end
end

if ARGV[2] == '1' then
  for index, micros in pairs(lives) do
    local ttl = (micros + (-micros) % 1000) / 1000
    if ttl < 1 then ttl = 1 end
    if given ~= 0 then ttl = ttl + SLACK end
    redis.call('SET', KEYS[index], encode(states[index]), 'PX', string.format('%d', ttl))
  end
end

return reply
