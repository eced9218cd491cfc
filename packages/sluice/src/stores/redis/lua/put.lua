-- Writes a value that must live until an instant, rounded up to whole milliseconds: a key lives through its last one. A state given a
-- time of its own lives a minute longer: a test's clock stands still between calls.
local function put(key, value, expires)
  if given == 0 then return call('SET', key, value, 'PXAT', (expires - expires % 1000) / 1000) end
  local life = math.max(0, expires - now)
  call('SET', key, value, 'PX', (life + (-life) % 1000) / 1000 + 60000)
end

-- The same for a value that is there already.
local function keep(key, expires)
  if given == 0 then return call('PEXPIREAT', key, (expires - expires % 1000) / 1000) end
  local life = math.max(0, expires - now)
  call('PEXPIRE', key, (life + (-life) % 1000) / 1000 + 60000)
end
