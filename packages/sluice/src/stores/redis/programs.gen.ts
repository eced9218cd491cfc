// Made from the programs beside this file by `npm run generate`; edit those, not this.

export const consumeProgram: { readonly sha1: string; readonly source: string } = {
  sha1: 'b8a25682b50c53cc7fed695c849a753d425d592d',
  source: `local function flow(n, m, micro, rest)
  local token = m * 1000000
  local token_rest, micro_rest = token % n, m % n
  local parts = micro % 1000000
  local tokens = (micro - parts) / 1000000
  local sum = rest + tokens * token_rest + parts * micro_rest
  local left = sum % n
  return tokens * ((token - token_rest) / n) + parts * ((m - micro_rest) / n) + (sum - left) / n, left
end
local LOW = 1 - 2 ^ -50
local function pieces(n, m, unit, rest, span)
  local count = 0
  if span > 0 then
    local guess = (span - rest / n) / (m * unit / n) * LOW
    if guess > 0 then count = guess - guess % 1 end
  end
  while true do
    local micros, left = flow(n, m, (count + 1) * unit, rest)
    if micros > span then return count, left > 0 and micros + 1 or micros end
    if micros == span and left > 0 then return count, micros + 1 end
    count = count + 1
  end
end
local function filled(state, n, m, burst, time)
  local full, left = flow(n, m, burst, 0)
  local zero, rest = time - full, 0
  if left > 0 then zero, rest = zero - 1, n - left end
  if not state then return zero, rest, 0, full, left end
  if state[1] > zero or (state[1] == zero and state[2] > rest) then return state[1], state[2], state[4], full, left end
  if state[4] > 0 and time < state[3] + state[4] then return zero, rest, state[4], full, left end
  return zero, rest, 0, full, left
end
local function decide(state, n, m, burst, now, cost)
  local time = now
  if state and state[3] > now then time = state[3] end
  local zero, rest, hold, full, full_rest = filled(state, n, m, burst, time)
  local outcome, retry_after, after = 0, 0, nil
  if cost > burst then
    outcome = 2
  elseif cost > 0 then
    local micros, left = flow(n, m, cost, rest)
    if zero + micros > time or (zero + micros == time and left > 0) then
      outcome = 1
      retry_after = zero + micros - now
      if left > 0 then retry_after = retry_after + 1 end
    else
      zero, rest = zero + micros, left
      after = { zero, rest, time, hold, n, m, burst }
    end
  end
  local remaining, next_one = pieces(n, m, 1000000, rest, time - zero)
  local sum = rest + full_rest
  local reset_after = zero + full + (sum + (-sum) % n) / n
  if reset_after > time then reset_after = reset_after - now else reset_after = 0 end
  local replenish_after = reset_after
  if (remaining + 1) * 1000000 <= burst then replenish_after = zero + next_one - now end
  if after then after[8] = hold == 0 and reset_after or nil end
  return outcome, retry_after, remaining, replenish_after, reset_after, after
end
local function life(state, now)
  local micros, left = flow(state[5], state[6], state[7], state[2])
  local fresh = state[1] + micros
  if left > 0 then fresh = fresh + 1 end
  if state[4] > 0 and state[3] + state[4] > fresh then fresh = state[3] + state[4] end
  return fresh - now
end
local function adopt(state, n, m, burst, now)
  local time = now
  if state[3] > now then time = state[3] end
  if life(state, time) <= 0 then return false end
  local old_n, old_m = state[5], state[6]
  local zero, rest, _, full, full_rest = filled(state, old_n, old_m, state[7], time)
  local tokens = pieces(old_n, old_m, 1000000, rest, time - zero)
  local micros, left = flow(old_n, old_m, tokens * 1000000, rest)
  zero, rest = zero + micros, left
  local parts = pieces(old_n, old_m, 1, rest, time - zero)
  local micro = tokens * 1000000 + parts
  local part = (time - zero) * old_n - rest - parts * old_m
  local extra = 0
  if micro >= burst then
    micro = burst
  elseif part > 0 then
    local low = m % 131072
    local one = part * ((m - low) / 131072)
    local carried = (one % old_m) * 131072 + part * low
    extra = (one - one % old_m) / old_m * 131072 + (carried - carried % old_m) / old_m
  end
  local span, span_rest = flow(n, m, micro, 0)
  local behind = span_rest + extra
  local hold = full
  if full_rest > 0 then hold = full + 1 end
  if state[4] > hold then hold = state[4] end
  return { time - span - (behind + (-behind) % n) / n, (-behind) % n, time, hold, n, m, burst }
end
local function encode(state)
  return cmsgpack.pack(1, state[1], state[2], state[3] - state[1], state[4], state[5], state[6], state[7])
end
local function load_state(key)
  local value = redis.pcall('GET', key)
  if type(value) ~= 'string' then return false end
  local ok, format, zero, rest, age, hold, n, m, burst, more = pcall(cmsgpack.unpack, value)
  if not ok or format ~= 1 or type(burst) ~= 'number' or more ~= nil then return false end
  return { zero, rest, zero + age, hold, n, m, burst }
end
local ARGV, KEYS, tonumber = ARGV, KEYS, tonumber
local SLACK = 60000
local given = tonumber(ARGV[1])
local now = given
if given == 0 then
  local time = redis.call('TIME')
  now = time[1] * 1000000 + time[2]
end
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
`,
}
