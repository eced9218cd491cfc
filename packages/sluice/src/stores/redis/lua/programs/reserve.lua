-- Reserves on token buckets of one limit, for the same length of time each. A group is one call to a bucket, then the record of its hold.
-- Most reservations are such, so the program is written to run fast. consume.lua decides all others.
--
-- KEYS        the states, each once
-- ARGV        n, m, burst (2 * burst * m is below 2^53); for how many microseconds values are kept after they are needed; how many
--             microseconds the holds last; 1 if they begin as settled, otherwise 0; the name of the limit. Two forms follow:
--             - the cost, at most two bursts, and the micro-tokens that are held: if all costs are equal, and each group has a bucket of
--               its own, which its record follows in KEYS
--             - otherwise for each group the indexes of its bucket and of its record, then its cost and what is held
-- returns     the text of reply.lua. It has no numbers. Its counts are 1 for each group that passed, else 0. Nil, with nothing changed, if
--             one of the records exists already: then consume.lua decides

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

local states, alike = #KEYS, #ARGV == 9
-- If guard.lua precedes this program, it has read the states.
local values = KEYS.found or call('MGET', unpack(KEYS))
local groups = alike and states / 2 or (#ARGV - 7) / 4
for group = 1, groups do
  if values[alike and 2 * group or ARGV[5 + 4 * group] + 0] then return false end
end

local n, m, burst = ARGV[1] + 0, ARGV[2] + 0, ARGV[3] + 0
local parts = burst * m
local empty_rest = -parts % n
local empty = (parts + empty_rest) / n
local extra, micros, settled, name = ARGV[4] + 0, ARGV[5] + 0, ARGV[6] + 0, ARGV[7] + 0
-- The values of all records begin with the same bytes, and all records expire at the same time (record-value.lua).
local head = micros < 1099511627776 and pack('>BI7I5I4', 8 + settled, now, micros, name)
local forgotten = format('%d', (now + micros + 60000000 + extra) / 1000 + 1)
-- Used if a bucket may have several groups: for each state the value to write, and for each bucket the instant until which it must be kept.
local fresh, needed = {}, {}
local counts, numbers = {}, {}
local ahead, capped
local cost, cost_rest, charge
for group = 1, groups do
  local bucket, record, times = 2 * group - 1, 2 * group, 1
  local from = 8
  if not alike then
    from = 6 + 4 * group
    bucket, record = ARGV[from - 2] + 0, ARGV[from - 1] + 0
    if fresh[record] then times = 0 end
  end
  if ARGV[from] ~= charge then
    charge, parts = ARGV[from], ARGV[from] * m
    cost_rest = parts % n
    cost = (parts - cost_rest) / n
  end
  local held = ARGV[from + 1] + 0
  local value = fresh[bucket] or values[bucket]
  -- inline: bucket-step.lua
  -- `%d` drops the fraction. Without a format, redis.call would write the fraction too.
  if written and alike then
    call('SET', KEYS[bucket], written, 'PXAT', format('%d', (expires + extra) / 1000 + 1))
  elseif written then
    fresh[bucket], needed[bucket] = written, expires
  end
  if passed > 0 then
    local mark = zero - now + 549755813888
    local held_value
    if head and held < 1099511627776 and mark > 0 and mark < 1099511627776 then
      held_value = head .. pack('>I5I5', held, mark)
    else
      held_value = pack('>BI7I7I4I7I7', 10 + settled, now, micros, name, held, zero - now + 4503599627370496)
    end
    if alike then
      call('SET', KEYS[record], held_value, 'PXAT', forgotten)
    else
      fresh[record] = held_value
    end
  end
  counts[group] = passed
end
-- Buckets are written first. Redis may give the first written value a buffer that is longer than needed, and records should stay small.
for state = 1, alike and 0 or states do
  local expires = needed[state]
  if fresh[state] then
    call('SET', KEYS[state], fresh[state], 'PXAT', expires and format('%d', (expires + extra) / 1000 + 1) or forgotten)
  end
end
-- inline: reply.lua
