local extra = (ARGV[3] or 0) + 0

-- For states that are not logs; false without a value.
local function read(state)
  local value = redis.pcall('GET', KEYS[state])
  return type(value) == 'string' and value
end

-- PEXPIREAT, and SET on newer servers, delete a key at once if it expires in the present millisecond, hence the next one. With a time
-- argument a key lives a minute longer, because a test's clock may stop.
local function expiry_of(expires)
  if time_arg == 0 then return math.floor(expires / 1000) + 1 end
  local time = call('TIME')
  return time[1] * 1000 + math.ceil(math.max(0, expires - now) / 1000) + 60000
end

local function put(state, value, expires)
  call('SET', KEYS[state], value, 'PXAT', expiry_of(expires + extra))
end

local function keep(state, expires)
  call('PEXPIREAT', KEYS[state], expiry_of(expires + extra))
end

local function remove(state)
  call('DEL', KEYS[state])
end

return read, put, keep, remove, extra, expiry_of
