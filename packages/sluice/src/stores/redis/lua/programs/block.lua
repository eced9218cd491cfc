-- Blocks states, lifts their blocks, or forgets states but not their blocks.
--
-- KEYS        the states
-- ARGV[1]     a JSON array: time; microseconds that the block lasts, 0 to lift it, -1 to forget the states
-- returns     the indexes of states that were not changed, because a newer version of Sluice wrote them; all states can be forgotten

-- include: clock.lua

-- modules

local read, put, keep, remove, _, member_of = make 'state'
local split, block_value = make 'block-value'
local state_until = make 'state-until'

-- Returns until when the bucket must be kept, and its value: full, less its leased tokens; nil and an empty value without leases.
local function what_stays(value)
  local read_bucket, bucket_value = make 'bucket-value'
  local flow, cut = make 'bucket-flow'
  local out_on, settle, leased_until = make('bucket-leases', flow, cut)
  local zero, rest, seen, keep_for, n, m, burst, _, leases = read_bucket(value, 0)
  if not leases then return nil, '' end
  local time = now
  if seen > now then time = seen end
  zero, rest, leases = settle(zero, rest, n, m, burst, leases, time)
  if not leases then return nil, '' end
  zero, rest = cut(-math.huge, 0, n, m, burst - out_on(leases), time)
  value = bucket_value(zero, rest, time, keep_for, n, m, burst, 0, leases)
  return leased_until(zero, rest, time, keep_for, n, m, burst, leases), value
end

local length = args[2]
local newer = {}

local function block_log(state)
  local logs = make('log-value', put, keep)
  local log = logs.open(state)
  if length < 0 or not log.there then return log.ends, '' end
  log.ends = 0
  if length > 0 then log.ends = now + length end
  call('SETRANGE', KEYS[state], 0, logs.head(log, log.skip))
  keep(state, logs.expires(log))
end

for state = 1, #KEYS do
  local member, value = member_of and member_of(state), nil
  if member then value = read(state) else value = redis.pcall('GETRANGE', KEYS[state], 0, 2047) end
  if type(value) ~= 'string' then value = '' end
  -- Only logs (first byte 2) and states of algorithms without a program can be longer. A log is not needed in full.
  if #value == 2048 and string.byte(value) ~= 2 then value = call('GET', KEYS[state]) end
  local ends, inner, expires = 0, value, nil
  if string.byte(value) == 2 then
    ends, inner = block_log(state)
  elseif value ~= '' then
    ends, inner = split(value)
    expires = state_until(value)
    if ends == 9000000000000000 then
      ends = 0
      if length >= 0 then newer[#newer + 1], inner = state, nil end
    elseif not expires and inner ~= '' then
      ends, inner = 0, ''
    end
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
        put(state, block_value(ends) .. inner, math.max(ends, expires))
      elseif ends > now then
        put(state, block_value(ends), ends)
      elseif member then
        call('HSET', KEYS[state], member, block_value(ends))
      else
        -- The stored block has ended by this call's clock. It is kept, because the clock of the call that set it may be behind.
        call('SET', KEYS[state], block_value(ends), 'KEEPTTL')
      end
    elseif inner ~= '' then
      put(state, inner, expires)
    elseif value ~= '' or length < 0 then
      remove(state)
    end
  end
end
return newer
