-- ARGV[1]     a JSON array of whole numbers. The first is the time in microseconds since 1970, or 0 for the server's own clock

local call, KEYS = redis.call, KEYS
local pack, parse = struct.pack, struct.unpack
local args = cjson.decode(ARGV[1])
local time_arg = args[1]
local clock = time_arg == 0 and call('TIME')
local now = clock and clock[1] * 1000000 + clock[2] or time_arg
