-- Settles or extends holds, one after the other: algorithms/settle-hold.ts, replayed. The record of a hold and the limits that it charged are
-- changed together.
--
-- KEYS        for each hold its record, then the states of its calls
-- ARGV[1]     time; how many holds; for each hold -1 to settle it with what was used, -2 to let stand what was held, otherwise for how many
--             microseconds from now it lasts at least; how many calls; the id under which it holds slots, in two
--             numbers; for each call the name of its limit in records, its descriptor (see
--             the kernels; their costs are ignored), and what was used; then the descriptors
-- returns     the text of numbers of 7 bytes: for each hold its status (0 unknown, 1 open, 2 settled, 3 expired, 4 settled before, 5 not
--             changed because a newer version wrote a state) and its end; for each call what was held (0 where the hold did not charge it),
--             what was charged, and the overage

-- include: clock.lua

-- modules

-- By key, where states are strings and not too many for a function's arguments: the values, false for none.
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
  -- A number would be written with all digits that it could have.
  call('SET', KEYS[state], value, 'PXAT', string.format('%d', expires / 1000 + 1))
end

local function bucket_of(descriptor)
  -- inline: bucket-descriptor.lua
  return n, m, burst, empty, empty_rest
end

-- Moves the instant at which a bucket is empty, as bucket-change.lua does, where its value is short, its plan the limit's, and what the hold
-- used is given back or charged in full. True if it did.
local function settle_bucket(state, descriptor, held, actual, mark)
  local n, m, burst, empty, empty_rest = bucket_of(descriptor)
  local oldest, more = now - empty, (actual - held) * m
  if empty > 1000000000000000 or more > burst * m or -more > burst * m then return end
  local value, zero, rest = cached[KEYS[state]], oldest, empty_rest
  local high, low, age
  if value then
    local old_n, old_m, old_burst
    if #value == 12 then
      high, low, age, old_n, old_burst = parse('>I3I4I3BB', value)
      rest, old_m, old_burst = 0, 1, old_burst * 1000000
    elseif #value == 28 then
      high, low, rest, age, old_n, old_m, old_burst = parse('>I3I4I3I5I3I5I5', value)
    else
      return
    end
    if old_n ~= n or old_m ~= m or old_burst ~= burst or high < 6291456 or high >= 10485504 or rest >= n then return end
    zero = (high - 8388608) * 4294967296 + low
    if zero + age > now or zero >= now then return end
    if zero < oldest or (zero == oldest and rest <= empty_rest) then zero, rest = oldest, empty_rest end
  end
  if more == 0 then return true end
  if more < 0 then
    -- What had room meanwhile.
    local passed = (now - mark) * n
    if passed > 9000000000000000 or passed < -9000000000000000 then return end
    local room = burst * m - passed
    if room <= 0 then return true end
    if -more > room then return end
  end
  local sum = rest + more % n
  local left = sum % n
  zero, rest = zero + (more - more % n) / n + (sum - left) / n, left
  age = now - zero
  local expires = zero + empty
  if rest > empty_rest then expires = expires + 1 end
  if expires <= now then
    cached[KEYS[state]] = false
    call('DEL', KEYS[state])
    return true
  end
  if age < 0 or age >= 1099511627776 or n >= 16777216 or burst >= 1099511627776 then return end
  low = zero % 4294967296
  high = 8388608 + (zero - low) / 4294967296
  if m == 1 and rest == 0 and age < 16777216 and n < 256 and burst < 256000000 and burst % 1000000 == 0 then
    write(state, pack('>I3I4I3BB', high, low, age, n, burst / 1000000), expires)
  else
    write(state, pack('>I3I4I3I5I3I5I5', high, low, rest, age, n, m, burst), expires)
  end
  return true
end

-- Settles an open hold of one bucket, whose record is short (27 bytes): the instant at which it ends, what was held, and what is charged. Nothing
-- where there is more to do.
local function settle(key, mode, first)
  local value, descriptor = cached[KEYS[key]], args[first + 1]
  if mode >= 0 or args[descriptor] ~= 0 or not value or #value ~= 27 or string.byte(value) ~= 8 then return end
  local at, span, name, held, mark = parse('>I7I5I4I5I5', value, 2)
  local expires, actual = at + span, mode == -1 and args[first + 2] or held
  if name ~= args[first] or now >= expires or mark == 0 or actual >= 1099511627776 then return end
  if mode == -1 and not settle_bucket(key + 1, descriptor, held, actual, at + mark - 549755813888) then return end
  value = string.sub(value, 2)
  if actual == held then
    write(key, '\9' .. value, expires + 60000000)
  else
    write(key, '\13' .. value .. pack('>I5I5', actual, 0), expires + 60000000)
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
