-- What every program begins with: its argument as an array of whole numbers, and the time of its decisions.
--
-- ARGV[1]     a JSON array; first of all the time in microseconds since 1970, 0 for the server's own clock

local call, KEYS = redis.call, KEYS
local pack, parse = struct.pack, struct.unpack
local asked = cjson.decode(ARGV[1])
local given = asked[1]
local now = given
if given == 0 then
  local time = call('TIME')
  now = time[1] * 1000000 + time[2]
end

-- A state given a time of its own lives this much longer (milliseconds): a test's clock stands still between calls.
local SLACK = 60000
-- A block that is over is kept so long (microseconds), for clocks that step back.
local PAST = 60000000

-- Writes a value that must live until an instant, rounded up to whole milliseconds: a key lives through its last one.
local function put(key, value, expires)
  if given == 0 then return call('SET', key, value, 'PXAT', (expires - expires % 1000) / 1000) end
  local life = expires - now
  call('SET', key, value, 'PX', (life + (-life) % 1000) / 1000 + SLACK)
end

-- The same for a value that is there already.
local function keep(key, expires)
  if given == 0 then return call('PEXPIREAT', key, (expires - expires % 1000) / 1000) end
  local life = expires - now
  call('PEXPIRE', key, (life + (-life) % 1000) / 1000 + SLACK)
end
