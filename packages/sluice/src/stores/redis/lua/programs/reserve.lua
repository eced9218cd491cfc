-- Reserves on token buckets of one limit, for the same length of time each: the common case of consume.lua, written to run fast. A group is
-- one call to a bucket, then the record of its hold.
--
-- KEYS        the states, each once
-- ARGV        the rate (n micro-tokens in m microseconds); burst in micro-tokens (2 * burst * m is below 2^53); microseconds for which
--             values are kept after they are needed; microseconds that the holds last; 1 if they are never settled, else 0; the name of the
--             limit. Then one of two forms. `cost` is at most two bursts; `held`, for the record, is the whole cost:
--             - cost and held: if all costs are equal, and each group has a bucket of its own, which its record follows in KEYS
--             - for each group the indexes of its bucket and record, cost, held
-- returns     the text of reply.lua: no numbers, and as counts 1 for each group that passed, else 0. Nil, with nothing changed, if a record
--             exists already

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

local states, alike = #KEYS, #ARGV == 9
-- guard.lua may have read the states.
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
-- Equal for all records (record-value.lua).
local head = micros < 1099511627776 and pack('>BI7I5I4', 8 + settled, now, micros, name)
local forgotten = format('%d', (now + micros + 60000000 + extra) / 1000 + 1)
-- Used if a bucket may have several groups.
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
  -- `%d` drops the fraction, which redis.call would write.
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
-- Redis may give the first written value a buffer that is longer than needed. Buckets are written first, to keep records small.
for state = 1, alike and 0 or states do
  local expires = needed[state]
  if fresh[state] then
    call('SET', KEYS[state], fresh[state], 'PXAT', expires and format('%d', (expires + extra) / 1000 + 1) or forgotten)
  end
end
-- inline: reply.lua
