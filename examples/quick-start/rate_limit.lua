-- A token bucket with the arguments and the reply of the script in Rate Limiting at Scale.
-- KEYS[1]: the bucket
-- ARGV[1]: capacity, in tokens
-- ARGV[2]: refill rate, in tokens a second
-- ARGV[3]: the caller's time, in milliseconds since 1970
-- ARGV[4]: cost, in tokens; at most the capacity
-- Returns { allowed (1 or 0), whole tokens that remain, whole seconds to wait (0 if allowed) }.
-- Synchronize the callers' clocks. A caller whose clock is ahead gets tokens early. Then the bucket gets no new tokens for other callers
-- until their clocks have reached that time.

local names = { 'capacity', 'refill rate', 'time', 'cost' }
local numbers = {}
for index, name in ipairs(names) do
  local number = tonumber(ARGV[index])
  -- The comparisons also refuse NaN and infinity.
  if not number or not (number > 0 and number < 2 ^ 53) then
    return redis.error_reply('ERR ' .. name .. ' (ARGV[' .. index .. ']) must be a number above 0 and below 2^53')
  end
  numbers[index] = number
end
local capacity, rate, now, cost = unpack(numbers)
-- No wait helps such a request, so the reply is an error.
if cost > capacity then
  return redis.error_reply('ERR cost (ARGV[4]) ' .. ARGV[4] .. ' is above the capacity (ARGV[1]) ' .. ARGV[1])
end

local stored = redis.call('HMGET', KEYS[1], 'tokens', 'last_refill')
local tokens, last = tonumber(stored[1]) or capacity, tonumber(stored[2]) or now
-- Without this condition, a caller whose clock is behind would take tokens away, and the same time would be refilled twice.
if now > last then
  tokens = tokens + (now - last) * rate / 1000
  last = now
end
tokens = math.min(tokens, capacity)

local allowed, wait = 0, 0
if cost <= tokens then
  allowed = 1
  tokens = tokens - cost
else
  wait = math.ceil((cost - tokens) / rate)
end
-- With all digits, because by default Lua would round the time and the tokens.
redis.call('HSET', KEYS[1], 'tokens', string.format('%.17g', tokens), 'last_refill', string.format('%.17g', last))
-- The key expires after twice the time in which an empty bucket fills; at most 2^31 s (68 years), because Redis refuses much more.
redis.call('EXPIRE', KEYS[1], math.min(math.ceil(2 * capacity / rate), 2 ^ 31))
return { allowed, math.floor(tokens), wait }
