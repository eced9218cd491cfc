-- Where states lie: each a string of its own, or a member of a hash that many share. A member is 8 bytes, its value the string's. The hash
-- lives at least as long as its longest member.
--
-- ARGV[2]     where states are members of hashes: a JSON array, for each state the two halves of its name, -1 twice for a string

local members = ARGV[2] and cjson.decode(ARGV[2])

local function member_of(state)
  if not members or members[2 * state] < 0 then return nil end
  return pack('>I4I4', members[2 * state - 1], members[2 * state])
end

-- The value of a state that is no log; false for none.
local function read(state)
  local member = member_of(state)
  if not member then
    local value = redis.pcall('GET', KEYS[state])
    return type(value) == 'string' and value
  end
  local found = redis.pcall('HMGET', KEYS[state], member, '')
  if found.err then return false end
  -- include: packed-value.lua
  return found[1] and expanded(found[1], found[2] or '')
end

local function put_member(key, member, value, expires)
  -- include: packed-value.lua
  local head = redis.pcall('HGET', key, '')
  if type(head) == 'table' then
    call('DEL', key)
    head = false
  end
  local compact, plans = compacted(value, head and string.sub(head, 7) or '')
  local last = head and parse('>I6', head) or 0
  local added
  if last * 1000 >= expires then
    if #head == 6 + #plans then
      added = call('HSET', key, member, compact)
    else
      added = call('HSET', key, member, compact, '', string.sub(head, 1, 6) .. plans)
    end
  else
    -- A quarter more than is needed, so that not every charge must say it.
    local life = math.max(0, expires - now)
    last = math.floor((expires + life / 4) / 1000)
    added = call('HSET', key, member, compact, '', pack('>I6', last) .. plans)
    if given == 0 then call('PEXPIREAT', key, last) else call('PEXPIRE', key, math.ceil(life / 800) + 60000) end
  end
  -- Members that nobody asks for any more go when others come, at one of sixteen.
  if added > 0 and given == 0 and now % 16 == 0 then
    -- include: sweep.lua
    sweep(key)
  end
end

-- Writes a value that must live until an instant, rounded up to whole milliseconds: a key lives through its last one. A state given a
-- time of its own lives a minute longer: a test's clock stands still between calls.
local function put(state, value, expires)
  local member = member_of(state)
  if member then return put_member(KEYS[state], member, value, expires) end
  if given == 0 then return call('SET', KEYS[state], value, 'PXAT', (expires - expires % 1000) / 1000) end
  call('SET', KEYS[state], value, 'PX', math.ceil(math.max(0, expires - now) / 1000) + 60000)
end

-- The same for a string that is there already.
local function keep(state, expires)
  if given == 0 then return call('PEXPIREAT', KEYS[state], (expires - expires % 1000) / 1000) end
  call('PEXPIRE', KEYS[state], math.ceil(math.max(0, expires - now) / 1000) + 60000)
end

local function remove(state)
  local member = member_of(state)
  if member then return redis.pcall('HDEL', KEYS[state], member) end
  call('DEL', KEYS[state])
end
