-- Settles or extends holds, one after the other, by the rules of algorithms/settle-hold.ts.
--
-- KEYS        for each hold its record, then the states of its calls
-- ARGV[1]     a JSON array: time; the number of holds
--             for each hold -1 to settle it with what was used, -2 to settle it with what was held, or for how many microseconds from now,
--             at least, it is extended
--             then, for the same hold, the number of its calls, and the id of the holder of its slots, in two numbers
--             for each of its calls the name of its limit in the record, the index of its descriptor, and the micro-tokens that were used
--             last, the descriptors (kernels/*.lua), whose costs are ignored
-- returns     numbers of 7 bytes. For each hold: its status, and the instant at which it ends. For each call: what was held (0 if the hold
--             did not charge its limit), what is charged, and the overage, which was used and could not be charged
-- status      0 unknown, 1 open, 2 settled, 3 expired, 4 settled by an earlier call, 5 not changed because a newer version of Sluice wrote
--             a state

-- include: clock.lua

-- modules

-- Values by key, false if missing. Nil for the packed layout (many states in one hash), and for more than 4,000 keys.
local cached, put
if not ARGV[2] and #KEYS <= 4000 then
  cached = {}
  local values = call('MGET', unpack(KEYS))
  for state = 1, #KEYS do cached[KEYS[state]] = values[state] end
  if time_arg ~= 0 then
    local _
    _, put = make 'state'
  end
end

local function write(state, value, expires)
  cached[KEYS[state]] = value
  if put then return put(state, value, expires) end
  -- redis.call would write the fraction.
  call('SET', KEYS[state], value, 'PXAT', string.format('%d', expires / 1000 + 1))
end

local function bucket_of(descriptor)
  -- inline: bucket-descriptor.lua
  return n, m, burst, empty, empty_rest
end

-- Of the previous bucket, because most holds have the same limit.
local previous, n, m, burst, empty, empty_rest

-- The common case of bucket-change.lua: returns true. Does nothing and returns nil if the bucket has leases, if another limit wrote it, or
-- if the difference between held and used can be given back or charged only in part.
local function settle_bucket(state, descriptor, held, actual, mark)
  if descriptor ~= previous then
    previous, n, m, burst, empty, empty_rest = descriptor, bucket_of(descriptor)
  end
  local oldest, more = now - empty, (actual - held) * m
  if empty > 1000000000000000 or more > burst * m or -more > burst * m then return end
  local value, zero, rest = cached[KEYS[state]], oldest, empty_rest
  local high, low
  if value then
    local age, last, keep_for, old_n, old_m, old_burst
    if #value == 12 then
      high, low, age, old_n, old_burst = parse('>I3I4I3BB', value)
      rest, old_m, old_burst = 0, 1, old_burst * 1000000
    elseif #value == 28 then
      high, low, rest, age, old_n, old_m, old_burst = parse('>I3I4I3I5I3I5I5', value)
    elseif #value == 49 then
      high, low, rest, last, keep_for, old_n, old_m, old_burst = parse('>I3I4I7I7I7I7I7I7', value)
      if keep_for > 0 then return end
    else
      return
    end
    if old_n ~= n or old_m ~= m or old_burst ~= burst or high < 6291456 or high >= 10485504 or rest >= n then return end
    zero = (high - 8388608) * 4294967296 + low
    if (last or zero + age) > now or zero >= now then return end
    if zero < oldest or (zero == oldest and rest <= empty_rest) then zero, rest = oldest, empty_rest end
  end
  if more == 0 then return true end
  if more < 0 then
    -- At most the burst less what was refilled since the charge can be given back. If only a part can, hold-change.lua computes it.
    local passed = (now - mark) * n
    if passed > 9000000000000000 or passed < -9000000000000000 then return end
    local room = burst * m - passed
    if room <= 0 then return true end
    if -more > room then return end
  end
  local sum = rest + more % n
  local left = sum % n
  zero, rest = zero + (more - more % n) / n + (sum - left) / n, left
  local age = now - zero
  local expires = zero + empty
  if rest > empty_rest then expires = expires + 1 end
  if expires <= now then
    if value then call('DEL', KEYS[state]) end
    cached[KEYS[state]] = false
    return true
  end
  if age < 0 then return end
  low = zero % 4294967296
  high = 8388608 + (zero - low) / 4294967296
  if age >= 1099511627776 or n >= 16777216 or burst >= 1099511627776 then
    write(state, pack('>I3I4I7I7I7I7I7I7', high, low, rest, now, 0, n, m, burst), expires)
    return true
  end
  if m == 1 and rest == 0 and age < 16777216 and n < 256 and burst < 256000000 and burst % 1000000 == 0 then
    write(state, pack('>I3I4I3BB', high, low, age, n, burst / 1000000), expires)
  else
    write(state, pack('>I3I4I3I5I3I5I5', high, low, rest, age, n, m, burst), expires)
  end
  return true
end

-- The common case of hold-change.lua: an open hold of one bucket, never changed. Returns its end, what was held, and what is charged.
-- Otherwise changes and returns nothing.
local function settle(key, mode, first)
  local value, descriptor = cached[KEYS[key]], args[first + 1]
  if mode >= 0 or args[descriptor] ~= 0 or not value then return end
  local kind, at, span, name, held, mark = string.byte(value), nil, nil, nil, nil, 0
  local half, pair = 549755813888, '>I5I5'
  if kind == 8 and #value == 27 then
    at, span, name, held, mark = parse('>I7I5I4I5I5', value, 2)
  elseif kind == 10 and #value == 33 then
    at, span, name, held, mark = parse('>I7I7I4I7I7', value, 2)
    half, pair = 4503599627370496, '>I7I7'
  end
  if mark == 0 or name ~= args[first] or now >= at + span then return end
  local expires, actual = at + span, mode == -1 and args[first + 2] or held
  if actual >= 1099511627776 then return end
  if mode == -1 and not settle_bucket(key + 1, descriptor, held, actual, at + mark - half) then return end
  value = string.sub(value, 2)
  value = actual == held and string.char(kind + 1) .. value or string.char(kind + 5) .. value .. pack(pair, actual, 0)
  if put then
    write(key, value, expires + 60000000)
  else
    cached[KEYS[key]] = value
    -- The record is needed as long as before.
    call('SET', KEYS[key], value, 'KEEPTTL')
  end
  return expires, held, actual
end

local change
local numbers = {}
local key, next = 1, 3
for _ = 1, args[2] do
  local mode, calls = args[next], args[next + 1]
  local ends, held, charged
  if cached and calls == 1 then ends, held, charged = settle(key, mode, next + 4) end
  if ends then
    numbers[#numbers + 1] = pack('>I7I7I7I7I7', 2, ends, held, charged, 0)
  else
    change = change or make('hold-change', bucket_of)
    local status, expires, parts = change(key, mode, next + 4, calls)
    numbers[#numbers + 1] = pack('>I7I7', status, expires)
    for call = 1, calls do
      local held, charged, overage = 0, 0, 0
      for index = #parts, 1, -1 do
        local part = parts[index]
        if part[1] == args[next + 3 * call + 1] then held, charged, overage = part[2], part[3], part[4] end
      end
      numbers[#numbers + 1] = pack('>I7I7I7', held, charged, overage)
    end
    for state = key, key + calls do
      local left = cached and redis.pcall('GET', KEYS[state])
      if cached then cached[KEYS[state]] = type(left) == 'string' and left end
    end
  end
  key, next = key + 1 + calls, next + 4 + 3 * calls
end
return table.concat(numbers)
