-- Where states lie: each a string of its own, or a member of a hash that many share. A member is 8 bytes, its value the string's. The hash
-- lives at least as long as its longest member.
--
-- ARGV[2]     where states are members of hashes: a JSON array, for each state the two halves of its name, -1 twice for a string; empty or absent
--             where they are not
-- ARGV[3]     for how many microseconds values are kept after they are needed, so that their keys stay known; absent for 0

local members = ARGV[2] and ARGV[2] ~= '' and cjson.decode(ARGV[2])
local extra = (ARGV[3] or 0) + 0

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

-- The last millisecond, for a key lives through it, in which a value is needed that must live until an instant. A state given a time of its
-- own lives a minute longer: a test's clock stands still between calls.
local function last_of(expires)
  if given == 0 then return math.floor(expires / 1000) end
  local time = call('TIME')
  return time[1] * 1000 + math.ceil(math.max(0, expires - now) / 1000) + 60000
end

local function put_member(key, member, value, expires)
  -- include: packed-value.lua
  local head = redis.pcall('HGET', key, '')
  if type(head) == 'table' then call('DEL', key) end
  if type(head) ~= 'string' or #head < 6 or (#head - 6) % 13 > 0 then head = false end
  local compact, plans = compacted(value, head and string.sub(head, 7) or '')
  local last = head and parse('>I6', head) or 0
  local added
  if given == 0 and last * 1000 >= expires then
    if #head == 6 + #plans then
      added = call('HSET', key, member, compact)
    else
      added = call('HSET', key, member, compact, '', string.sub(head, 1, 6) .. plans)
    end
  else
    -- A quarter more than is needed, so that not every charge must say it.
    local longer = expires + math.max(0, expires - now) / 4
    added = call('HSET', key, member, compact, '', pack('>I6', math.max(last, math.floor(longer / 1000))) .. plans)
    if given ~= 0 and head then
      -- Other members may have another clock's time.
      call('PEXPIREAT', key, last_of(longer), 'GT')
    else
      call('PEXPIREAT', key, last_of(longer))
    end
  end
  -- Members that nobody asks for any more go when others come, at one of sixteen.
  if added > 0 and given == 0 and now % 16 == 0 then
    -- include: sweep.lua
    sweep(key)
  end
end

-- Writes a value that must live until an instant.
local function put(state, value, expires)
  expires = expires + extra
  local member = member_of(state)
  if member then return put_member(KEYS[state], member, value, expires) end
  call('SET', KEYS[state], value, 'PXAT', last_of(expires))
end

-- The same for a string that is there already.
local function keep(state, expires)
  call('PEXPIREAT', KEYS[state], last_of(expires + extra))
end

local function remove(state)
  local member = member_of(state)
  if not member then
    call('DEL', KEYS[state])
  elseif type(redis.pcall('HGET', KEYS[state], member)) ~= 'table' then
    call('HDEL', KEYS[state], member)
  end
end
