-- States as strings of their own. See state.lua.

local extra = (ARGV[3] or 0) + 0

-- The value of a state that is not a log; false for none.
local function read(state)
  local value = redis.pcall('GET', KEYS[state])
  return type(value) == 'string' and value
end

-- The millisecond in which the key of a value expires that must live until an instant: the one after, because a server deletes at once what
-- expires in the present one (PEXPIREAT, and SET of newer servers). With a time argument a state lives a minute longer: a test's clock stops
-- between calls.
local function expiry_of(expires)
  if time_arg == 0 then return math.floor(expires / 1000) + 1 end
  local time = call('TIME')
  return time[1] * 1000 + math.ceil(math.max(0, expires - now) / 1000) + 60000
end

-- Writes a value that must live until an instant.
local function put(state, value, expires)
  call('SET', KEYS[state], value, 'PXAT', expiry_of(expires + extra))
end

-- The same for a string that is there already.
local function keep(state, expires)
  call('PEXPIREAT', KEYS[state], expiry_of(expires + extra))
end

local function remove(state)
  call('DEL', KEYS[state])
end

return read, put, keep, remove, extra, expiry_of
