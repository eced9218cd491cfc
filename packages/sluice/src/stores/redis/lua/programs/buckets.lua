-- Decides calls of one cost on token buckets of one limit. Each call is decided by itself, not in a group with others. Most requests are
-- such, so the program is written to run fast. consume.lua decides all others.
--
-- KEYS        the states, each once; none if the program is only to be loaded
-- ARGV        n, m, burst, cost (2 * burst * m is below 2^53); for how many microseconds values are kept after they are needed; then the
--             number of calls for each state, absent if each state has one call
-- returns     the text of reply.lua. It has no numbers. Its counts are how many calls of each state passed

local call, KEYS, ARGV = redis.call, KEYS, ARGV
local pack, parse, format = struct.pack, struct.unpack, string.format
local clock = call('TIME')
local now = clock[1] * 1000000 + clock[2]
local made

-- The modules use `now`, `pack` and `parse`. These are parameters, because a function that uses no variable from outside (no upvalue) costs
-- the least to define.
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
-- If guard.lua precedes this program, it has read the states.
local values = KEYS.found or states == 1 and call('MGET', KEYS[1]) or states > 1 and call('MGET', unpack(KEYS)) or {}
local counts, numbers, times = {}, {}, 1
local ahead, capped
for state = 1, states do
  local value = values[state]
  if counted then times = ARGV[5 + state] + 0 end
  -- inline: bucket-step.lua
  -- `%d` drops the fraction. Without a format, redis.call would write the fraction too.
  if written then call('SET', KEYS[state], written, 'PXAT', format('%d', (expires + extra) / 1000 + 1)) end
  counts[state] = passed
end
-- inline: reply.lua
