-- Blocks states, lifts their blocks, or forgets states; a block stays what it is when a state goes, and the other way round.
--
-- KEYS        the states
-- ARGV[1]     time; then the length of the block in microseconds, 0 to lift it, -1 to forget the states
-- returns     time

-- include: clock.lua
-- include: put.lua
-- include: block-value.lua
-- include: bucket-value.lua
-- include: bucket-flow.lua
-- include: bucket-leases.lua
-- include: window-value.lua
-- include: counter-value.lua
-- include: log-value.lua

-- The instant until which a state is needed; nothing for what is no state.
local function state_until(value)
  local zero, rest, seen, hold, n, m, burst, _, leases = read_bucket(value, 0)
  if zero and n > 0 then return leased_until(zero, rest, seen, hold, n, m, burst, leases or {}) end
  local finish = read_window(value)
  if finish then return finish end
  local ended, current, _, window = read_counter(value)
  if ended and current > 0 then return ended + window end
  return ended
end

-- Of a state that is forgotten: what is out on lease, with a bucket as full as that allows.
local function what_stays(value)
  local zero, rest, seen, hold, n, m, burst, _, leases = read_bucket(value, 0)
  if not leases or n < 1 then return nil, '' end
  local time = now
  if seen > now then time = seen end
  zero, rest, leases = settle(zero, rest, n, m, burst, leases, time)
  if not leases then return nil, '' end
  zero, rest = cut(0, 0, n, m, burst - out_on(leases), time)
  value = bucket_value(zero, rest, time, hold, n, m, burst, 0, leases)
  return leased_until(zero, rest, time, hold, n, m, burst, leases), value
end

local length = asked[2]

local function block_log(key)
  local log = open_log(key)
  if length < 0 or not log.there then return log.ends, '' end
  log.ends = 0
  if length > 0 then log.ends = now + length end
  call('SETRANGE', key, 0, log_head(log, log.skip))
  keep(key, log_expires(log))
end

for place = 1, #KEYS do
  local key = KEYS[place]
  local value = redis.pcall('GETRANGE', key, 0, 2047)
  if type(value) ~= 'string' then value = '' end
  local ends, inner, expires = 0, value, nil
  if string.byte(value) == 2 then
    ends, inner = block_log(key)
  elseif value ~= '' then
    ends, inner = split(value)
    expires = state_until(value)
    if not expires and inner ~= '' then ends, inner = 0, '' end
  end
  if inner then
    if length < 0 then
      expires, inner = what_stays(inner)
    elseif length > 0 then
      ends = now + length
    else
      ends = 0
    end
    if ends > 0 then
      if inner ~= '' then
        put(key, block_value(ends) .. inner, math.max(ends, expires))
      elseif ends > now then
        put(key, block_value(ends), ends)
      else
        -- Over by this clock, but not by that of whoever set it.
        call('SET', key, block_value(ends), 'KEEPTTL')
      end
    elseif inner ~= '' then
      put(key, inner, expires)
    elseif value ~= '' or length < 0 then
      call('DEL', key)
    end
  end
end
return now
