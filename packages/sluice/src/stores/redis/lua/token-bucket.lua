-- The token bucket kernel (algorithms/token-bucket.ts) in whole numbers below 2^53.
--
-- plan    n micro-tokens every m microseconds (reduced), burst in micro-tokens
-- state   { zero, rest, seen, hold, n, m, burst }: zero in microseconds and rest in n-ths of one
-- value   MessagePack: 1 (the format), zero, rest, seen - zero, hold, n, m, burst
--
-- a % n is exact for whole numbers below 2^53, and so is (a - a % n) / n, the rounded-down quotient.

-- When micro-tokens that start to flow in at `rest` have done so: microseconds and the new rest.
local function flow(n, m, micro, rest)
  local token = m * 1000000
  local token_rest, micro_rest = token % n, m % n
  local parts = micro % 1000000
  local tokens = (micro - parts) / 1000000
  local sum = rest + tokens * token_rest + parts * micro_rest
  local left = sum % n
  return tokens * ((token - token_rest) / n) + parts * ((m - micro_rest) / n) + (sum - left) / n, left
end

-- A guess of doubles is off by less than this share: made smaller by it, it is never too high.
local LOW = 1 - 2 ^ -50

-- How many pieces of `unit` micro-tokens have flowed in after `span` microseconds less `rest`, and when the next one will have: a guess
-- in doubles, made exact by comparing.
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

-- Where zero stands at a time: never further back than a full bucket.
local function filled(state, n, m, burst, time)
  local full, left = flow(n, m, burst, 0)
  local zero, rest = time - full, 0
  if left > 0 then zero, rest = zero - 1, n - left end
  if not state then return zero, rest, 0, full, left end
  if state[1] > zero or (state[1] == zero and state[2] > rest) then return state[1], state[2], state[4], full, left end
  if state[4] > 0 and time < state[3] + state[4] then return zero, rest, state[4], full, left end
  return zero, rest, 0, full, left
end

-- Outcome, retryAfter, remaining, replenishAfter, resetAfter, and the state after the charge where it is allowed. A cost of 0 looks.
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
  -- Without a hold, the state's life is the time until it is full.
  if after then after[8] = hold == 0 and reset_after or nil end
  return outcome, retry_after, remaining, replenish_after, reset_after, after
end

-- Microseconds from now until the state decides like none.
local function life(state, now)
  local micros, left = flow(state[5], state[6], state[7], state[2])
  local fresh = state[1] + micros
  if left > 0 then fresh = fresh + 1 end
  if state[4] > 0 and state[3] + state[4] > fresh then fresh = state[3] + state[4] end
  return fresh - now
end

-- The state in a changed plan's unit: what the old plan would have left, cut to the new burst; false where it is as fresh as none.
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
    -- floor(part * m / old_m), exact though the product passes 2^53: m is taken in two halves.
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

-- What is no readable state (another type, another format) is none: it is replaced by the next charge.
local function load_state(key)
  local value = redis.pcall('GET', key)
  if type(value) ~= 'string' then return false end
  local ok, format, zero, rest, age, hold, n, m, burst, more = pcall(cmsgpack.unpack, value)
  if not ok or format ~= 1 or type(burst) ~= 'number' or more ~= nil then return false end
  return { zero, rest, zero + age, hold, n, m, burst }
end
