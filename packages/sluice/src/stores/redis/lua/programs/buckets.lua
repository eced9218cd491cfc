-- Decides calls of one cost on token buckets of one limit, each by itself: the common case of consume.lua, written to run fast.
--
-- KEYS        the states, each once; none if the program is only to be loaded
-- ARGV        rate (n micro-tokens in m microseconds), burst, cost (2 * burst * m is below 2^53); microseconds for which values are kept
--             after they are needed; then the number of calls for each state, absent if each has one
-- returns     the text of reply.lua: as counts, how many calls of each state passed; no numbers

local call, KEYS, ARGV = redis.call, KEYS, ARGV
local pack, parse, format = struct.pack, struct.unpack, string.format
local clock = call('TIME')
local now = clock[1] * 1000000 + clock[2]
local made

-- Functions without upvalues cost the least to define.
local function slow_path(now, pack, parse)
  -- modules
  return make 'bucket'
end

local n, m, burst = ARGV[1] + 0, ARGV[2] + 0, ARGV[3] + 0
local parts = ARGV[4] * m
local cost_rest = parts % n
local cost = (parts - cost_rest) / n
parts = burst * m
local empty_rest = -parts % n
local empty = (parts + empty_rest) / n

local states, counted, extra = #KEYS, #ARGV > 5, ARGV[5] + 0
-- guard.lua may have read the states.
local values = KEYS.found or states == 1 and call('MGET', KEYS[1]) or states > 1 and call('MGET', unpack(KEYS)) or {}
local counts, numbers, times = {}, {}, 1
local ahead, capped
for state = 1, states do
  local value = values[state]
  if counted then times = ARGV[5 + state] + 0 end
  -- inline: bucket-step.lua
  -- `%d` drops the fraction, which redis.call would write.
  if written then call('SET', KEYS[state], written, 'PXAT', format('%d', (expires + extra) / 1000 + 1)) end
  counts[state] = passed
end
-- inline: reply.lua
