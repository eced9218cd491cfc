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
