-- Decides calls of one cost, each a group of its own, on token buckets of one limit: the most frequent request, in the least time.
-- See consume.lua.
--
-- KEYS        the states, each once; none to have the program there
-- ARGV        n, m, burst, cost (burst * m and twice as much stay below 2^53), for how many microseconds values are kept after they are needed; then,
--             where it is not 1 for each, for each state how many calls
-- returns     the text of reply.lua: no numbers; for each state how many passed

local call, KEYS, ARGV = redis.call, KEYS, ARGV
local pack, parse, format = struct.pack, struct.unpack, string.format
local clock = call('TIME')
local now = clock[1] * 1000000 + clock[2]
local made

-- A function without upvalues costs the least to define.
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
local values = {}
if states == 1 then
  values = call('MGET', KEYS[1])
elseif states > 1 then
  values = call('MGET', unpack(KEYS))
end
local counts, numbers, times = {}, {}, 1
local ahead, capped
for state = 1, states do
  local value = values[state]
  if counted then times = ARGV[5 + state] + 0 end
  -- inline: bucket-step.lua
  -- A number would be written with all digits that it could have.
  if written then call('SET', KEYS[state], written, 'PXAT', format('%d', (expires + extra) / 1000 + 1)) end
  counts[state] = passed
end
-- inline: reply.lua
