-- States are strings, or members of hashes that many states share (packed-value.lua). A hash is kept at least as long as any of its members
-- is needed.
--
-- ARGV[2]     a JSON array with the two halves (32 bits each) of each state's member name, -1 twice for a string; empty or absent if all
--             states are strings
-- ARGV[3]     microseconds for which values are kept after they are needed; absent for 0

local read_string, put_string, keep, remove_string, extra, expiry_of = make 'strings'
local members = ARGV[2] and ARGV[2] ~= '' and cjson.decode(ARGV[2])
if not members then
  return read_string, put_string, keep, remove_string, extra
end
local expanded, compacted = make 'packed-value'

local function member_of(state)
  if members[2 * state] < 0 then return nil end
  return pack('>I4I4', members[2 * state - 1], members[2 * state])
end

local function read(state)
  local member = member_of(state)
  if not member then return read_string(state) end
  local found = redis.pcall('HMGET', KEYS[state], member, '')
  if found.err then return false end
  return found[1] and expanded(found[1], found[2] or '')
end

local function put_member(key, member, value, expires)
  local head = redis.pcall('HGET', key, '')
  if type(head) == 'table' then call('DEL', key) end
  if type(head) ~= 'string' or #head < 6 or (#head - 6) % 13 > 0 then head = false end
  local compact, plans = compacted(value, head and string.sub(head, 7) or '')
  local last = head and parse('>I6', head) or 0
  local added
  if time_arg == 0 and last * 1000 >= expires then
    if #head == 6 + #plans then
      added = call('HSET', key, member, compact)
    else
      added = call('HSET', key, member, compact, '', string.sub(head, 1, 6) .. plans)
    end
  else
    -- The hash expires later than needed, by a quarter of the time left, so that not every charge must change its expiry.
    local longer = expires + math.max(0, expires - now) / 4
    added = call('HSET', key, member, compact, '', pack('>I6', math.max(last, math.floor(longer / 1000))) .. plans)
    if time_arg ~= 0 and head then
      -- Other clocks may have written other members, so the expiry is never made earlier.
      call('PEXPIREAT', key, expiry_of(longer), 'GT')
    else
      call('PEXPIREAT', key, expiry_of(longer))
    end
  end
  -- About one in sixteen added members removes the expired ones.
  if added > 0 and time_arg == 0 and now % 16 == 0 then
    make('sweep', expanded, extra)(key)
  end
end

local function put(state, value, expires)
  local member = member_of(state)
  if member then return put_member(KEYS[state], member, value, expires + extra) end
  put_string(state, value, expires)
end

local function remove(state)
  local member = member_of(state)
  if not member then
    remove_string(state)
  elseif type(redis.pcall('HGET', KEYS[state], member)) ~= 'table' then
    call('HDEL', KEYS[state], member)
  end
end

return read, put, keep, remove, extra, member_of
