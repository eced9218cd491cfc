-- Exchanges what the callers of a region's processes need: for each key, how much they try to charge per second, and their largest cost.
--
-- KEYS[1]     a hash: for each process the time at which it published, and what it published
-- ARGV[1]     a JSON array: time; the process; microseconds that an entry counts; the most processes; what it publishes, empty to remove
--             its entry
-- returns     what the other processes published

-- include: clock.lua

local entries = call('HGETALL', KEYS[1])
local found, known = {}, false
for index = 1, #entries, 2 do
  local process, entry = entries[index], entries[index + 1]
  local at = tonumber(string.match(entry, '^%d+'))
  if process == args[2] then
    known = true
  elseif now - at > args[3] or at - now > args[3] then
    call('HDEL', KEYS[1], process)
  else
    found[#found + 1] = string.sub(entry, 18)
  end
end
if args[5] == '' then
  call('HDEL', KEYS[1], args[2])
elseif known or #found < args[4] then
  call('HSET', KEYS[1], args[2], string.format('%016.0f ', now) .. args[5])
  call('PEXPIRE', KEYS[1], math.ceil(args[3] / 1000))
end
return found
