-- Decides calls of one cost, each a group of its own, on token buckets of one limit: what most callers ask, in the least time.
-- See consume.lua.
--
-- KEYS        the states, each once; none to have the program there
-- ARGV        n, m, burst, cost (burst * m and twice as much stay below 2^53); then, where it is not 1 for each, for each state how many calls
-- returns     the values of the states as they were, nil for none; time; how many passed of each, as digits (see consume.lua)

local call, KEYS, ARGV, tonumber = redis.call, KEYS, ARGV, tonumber
local pack, parse = struct.pack, struct.unpack
local clock = call('TIME')
local now = clock[1] * 1000000 + clock[2]
-- include: bucket-rare.lua

local n, m, burst = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local parts = ARGV[4] * m
local cost_rest = parts % n
local cost = (parts - cost_rest) / n
parts = burst * m
local empty_rest = -parts % n
local empty = (parts + empty_rest) / n

local states, counted = #KEYS, #ARGV > 4
local values = {}
if states == 1 then
  values = call('MGET', KEYS[1])
elseif states > 1 then
  values = call('MGET', unpack(KEYS))
end
local digits, room, size, times = 0, 1, states + 1, 1
values[size] = now
for state = 1, states do
  local value = values[state]
  if counted then times = tonumber(ARGV[4 + state]) end
  -- include: bucket-step.lua
  if written then call('SET', KEYS[state], written, 'PXAT', (expires - expires % 1000) / 1000) end
  if room * (times + 1) > 4503599627370496 then
    size = size + 1
    values[size] = digits
    digits, room = 0, 1
  end
  digits, room = digits * (times + 1) + passed, room * (times + 1)
end
values[size + 1] = digits
return values
