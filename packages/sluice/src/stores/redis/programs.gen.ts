// Made from the programs beside this file by `npm run generate`; edit those, not this.

export const consumeProgram: { readonly sha1: string; readonly source: string } = {
  sha1: 'b42ac0d49273baa36d1f703b5286ee1e212ed6d1',
  source: `local call, KEYS = redis.call, KEYS
local pack, parse = struct.pack, struct.unpack
local asked = cjson.decode(ARGV[1])
local given = asked[1]
local now = given
if given == 0 then
  local time = call('TIME')
  now = time[1] * 1000000 + time[2]
end
local SLACK = 60000
local PAST = 60000000
local function put(key, value, expires)
  if given == 0 then return call('SET', key, value, 'PXAT', (expires - expires % 1000) / 1000) end
  local life = expires - now
  call('SET', key, value, 'PX', (life + (-life) % 1000) / 1000 + SLACK)
end
local function split(value)
  local size = #value
  if size < 7 then return 0, value end
  local high, low = parse('>I3I4', value)
  if high < 14680064 then return 0, value end
  return (high - 14680064) * 4294967296 + low, string.sub(value, 8)
end
local function blocked(value, ends)
  if ends + PAST <= now then return value end
  local low = ends % 4294967296
  return pack('>I3I4', 14680064 + (ends - low) / 4294967296, low) .. value
end
local function old_bucket(value)
  if string.byte(value) ~= 1 then return nil end
  local ok, _, zero, rest, age, hold, n, m, burst, more = pcall(cmsgpack.unpack, value)
  if not ok or more ~= nil then return nil end
  for _, number in ipairs({ zero or '', rest or '', age or '', hold or '', n or '', m or '', burst or '' }) do
    if type(number) ~= 'number' or number % 1 ~= 0 then return nil end
  end
  return zero, rest, zero + age, hold, n, m, burst
end
local function read_bucket(value, ends)
  local size = #value
  if size == 12 then
    local high, low, age, n, burst = parse('>I3I4I3BB', value)
    if high >= 8388608 and high < 10485760 then
      local zero = (high - 8388608) * 4294967296 + low
      return zero, 0, zero + age, 0, n, 1, burst * 1000000, ends
    end
  elseif size == 28 then
    local high, low, rest, age, n, m, burst = parse('>I3I4I4I4I4I4I5', value)
    if high >= 8388608 and high < 10485760 then
      local zero = (high - 8388608) * 4294967296 + low
      return zero, rest, zero + age, 0, n, m, burst, ends
    end
  elseif size == 49 then
    local high, low, rest, seen, hold, n, m, burst = parse('>I3I4I7I7I7I7I7I7', value)
    if high >= 8388608 and high < 10485760 then
      return (high - 8388608) * 4294967296 + low, rest, seen, hold, n, m, burst, ends
    end
  end
  local until_then, inner = split(value)
  if until_then > 0 and ends == 0 then
    local zero, rest, seen, hold, n, m, burst = read_bucket(inner, until_then)
    if zero or inner == '' then return zero, rest, seen, hold, n, m, burst, until_then end
    return nil, nil, nil, nil, nil, nil, nil, 0
  end
  local zero, rest, seen, hold, n, m, burst = old_bucket(value)
  return zero, rest, seen, hold, n, m, burst, ends
end
local function bucket_value(zero, rest, seen, hold, n, m, burst, short, ends)
  local low, age = zero % 4294967296, seen - zero
  local high = 8388608 + (zero - low) / 4294967296
  local value
  if short > 0 and rest == 0 and hold == 0 and age >= 0 and age < 16777216 then
    value = pack('>I3I4I3BB', high, low, age, n, short)
  elseif short >= 0 and hold == 0 and age >= 0 and age < 4294967296 then
    value = pack('>I3I4I4I4I4I4I5', high, low, rest, age, n, m, burst)
  else
    value = pack('>I3I4I7I7I7I7I7I7', high, low, rest, seen, hold, n, m, burst)
  end
  if ends > 0 then return blocked(value, ends) end
  return value
end
local function adopt_bucket(zero, rest, seen, hold, old_n, old_m, old_burst, n, m, burst)
  local function flow(at_n, at_m, micro, from)
    local token = at_m * 1000000
    local token_rest, micro_rest = token % at_n, at_m % at_n
    local parts = micro % 1000000
    local tokens = (micro - parts) / 1000000
    local sum = from + tokens * token_rest + parts * micro_rest
    local left = sum % at_n
    return tokens * ((token - token_rest) / at_n) + parts * ((at_m - micro_rest) / at_n) + (sum - left) / at_n, left
  end
  local function pieces(unit, from, span)
    local count = 0
    local guess = (span - from / old_n) / (old_m * unit / old_n) * (1 - 2 ^ -50)
    if guess > 0 then count = guess - guess % 1 end
    while true do
      local micros, left = flow(old_n, old_m, (count + 1) * unit, from)
      if micros > span or (micros == span and left > 0) then return count end
      count = count + 1
    end
  end
  if old_n < 1 or old_m < 1 or old_burst < 1 or rest >= old_n then return nil end
  local time = now
  if seen > now then time = seen end
  local full, full_rest = flow(old_n, old_m, old_burst, 0)
  local fresh, fresh_rest = flow(old_n, old_m, old_burst, rest)
  local ends = zero + fresh
  if fresh_rest > 0 then ends = ends + 1 end
  if hold > 0 and seen + hold > ends then ends = seen + hold end
  if ends <= time then return nil end
  local longest = full
  if full_rest > 0 then longest = full + 1 end
  local low, low_rest = time - longest, 0
  if full_rest > 0 then low_rest = old_n - full_rest end
  if zero < low or (zero == low and rest < low_rest) then zero, rest = low, low_rest end
  local tokens = 0
  if time > zero then tokens = pieces(1000000, rest, time - zero) end
  local micros, left = flow(old_n, old_m, tokens * 1000000, rest)
  zero, rest = zero + micros, left
  local parts = 0
  if time > zero then parts = pieces(1, rest, time - zero) end
  local micro = tokens * 1000000 + parts
  local part = (time - zero) * old_n - rest - parts * old_m
  local extra = 0
  if micro >= burst then
    micro = burst
  elseif part > 0 then
    local half = m % 131072
    local one = part * ((m - half) / 131072)
    local carried = (one % old_m) * 131072 + part * half
    extra = (one - one % old_m) / old_m * 131072 + (carried - carried % old_m) / old_m
  end
  local span, span_rest = flow(n, m, micro, 0)
  local behind = span_rest + extra
  if hold > longest then longest = hold end
  return time - span - (behind + (-behind) % n) / n, (-behind) % n, time, longest
end
local function bucket(value, row, times)
  local n, m, burst = asked[row + 1], asked[row + 2], asked[row + 3]
  local empty, empty_rest = asked[row + 4], asked[row + 5]
  local cost, cost_rest = asked[row + 6], asked[row + 7]
  local time, ends, passed = now, 0, 0
  local zero, rest, seen, hold, converted
  if value then
    local old_n, old_m, old_burst
    zero, rest, seen, hold, old_n, old_m, old_burst, ends = read_bucket(value, 0)
    if zero and (old_n ~= n or old_m ~= m or old_burst ~= burst) then
      zero, rest, seen, hold = adopt_bucket(zero, rest, seen, hold, old_n, old_m, old_burst, n, m, burst)
      converted = zero
    end
    if zero and seen > now then time = seen end
  end
  local low = time - empty
  if not zero then
    zero, rest, hold = low, empty_rest, 0
  elseif zero < low or (zero == low and rest <= empty_rest) then
    zero, rest = low, empty_rest
    if hold > 0 and time >= seen + hold then hold = 0 end
  end
  if ends > now then times = 0 end
  while passed < times do
    local moved, left = zero + cost, rest + cost_rest
    if left >= n then moved, left = moved + 1, left - n end
    if moved > time or (moved == time and left > 0) then break end
    zero, rest, passed = moved, left, passed + 1
  end
  if passed == 0 and not converted then return 0 end
  local expires = zero + empty
  if rest > empty_rest then expires = expires + 1 end
  if hold > 0 and time + hold > expires then expires = time + hold end
  if ends > expires then expires = ends end
  return passed, bucket_value(zero, rest, time, hold, n, m, burst, asked[row + 8], ends), expires
end
local kernels = { [0] = bucket }
local logs
local function kernel(tag)
  if tag == 1 then
local function read_window(value)
  local ends, inner = 0, value
  if #value ~= 21 then ends, inner = split(value) end
  if #inner == 21 then
    local high, low, count, window = parse('>I3I4I7I7', inner)
    if high >= 10485760 and high < 12582912 and window > 0 then
      return (high - 10485760) * 4294967296 + low, count, window, ends
    end
  end
  return nil, nil, nil, inner == '' and ends or 0
end
local function window_value(finish, count, window, ends)
  local low = finish % 4294967296
  local value = pack('>I3I4I7I7', 10485760 + (finish - low) / 4294967296, low, count, window)
  if ends > 0 then return blocked(value, ends) end
  return value
end
local function fresh_end(row, time)
  local length = asked[row + 3]
  if asked[row + 4] == 1 then return time + length end
  local shifted = time - asked[row + 8]
  return shifted - shifted % length + length + asked[row + 8]
end
local function adopt_window(finish, count, window, row)
  local length = asked[row + 3]
  if window >= length then return finish, count, window, false end
  if now >= finish then return nil end
  if asked[row + 4] == 1 then return finish - window + length, count, length, true end
  local fresh = fresh_end(row, now)
  if finish > fresh then fresh = finish end
  return fresh, count, length, true
end
local function window(value, row, times)
  local cost, limit, length, ramp = asked[row + 1], asked[row + 2], asked[row + 3], asked[row + 5]
  local ends, passed = 0, 0
  local finish, count, span, converted
  if value then
    finish, count, span, ends = read_window(value)
    if finish then finish, count, span, converted = adopt_window(finish, count, span, row) end
  end
  if not (finish and now < finish) then finish, count, span = fresh_end(row, now), 0, length end
  local elapsed = now - finish + span
  if ramp > 0 and elapsed < ramp then
    if elapsed < 0 then elapsed = 0 end
    local grown = math.floor(elapsed * asked[row + 6] / asked[row + 7])
    if grown < 1000000 then grown = 1000000 end
    if grown < limit then limit = grown end
  end
  if ends > now then times = 0 end
  while passed < times and count + cost <= limit do
    count, passed = count + cost, passed + 1
  end
  if passed == 0 and not converted then return 0 end
  local expires = finish
  if ends > expires then expires = ends end
  return passed, window_value(finish, count, span, ends), expires
end
    kernels[1] = window
  else
local function read_counter(value)
  local ends, inner = 0, value
  if #value ~= 28 then ends, inner = split(value) end
  if #inner == 28 then
    local high, low, current, previous, window = parse('>I3I4I7I7I7', inner)
    if high >= 12582912 and high < 14680064 and window > 0 then
      return (high - 12582912) * 4294967296 + low, current, previous, window, ends
    end
  end
  return nil, nil, nil, nil, inner == '' and ends or 0
end
local function counter_value(finish, current, previous, window, ends)
  local low = finish % 4294967296
  local value = pack('>I3I4I7I7I7', 12582912 + (finish - low) / 4294967296, low, current, previous, window)
  if ends > 0 then return blocked(value, ends) end
  return value
end
local function rolled(finish, current, previous, length)
  if finish and now < finish then return finish, current, previous end
  if not finish or now >= finish + length then return now - now % length + length, 0, 0 end
  return finish + length, 0, current
end
local function adopt_counter(finish, current, previous, window, row)
  local length = asked[row + 3]
  if window == length or (window > length and now < finish) then return finish, current, previous, window, false end
  finish, current, previous = rolled(finish, current, previous, window)
  finish = finish - window + length
  if now >= finish or current + previous == 0 then return nil end
  return finish, current, previous, length, true
end
local function share(finish, previous, window, row)
  if previous == 0 then return 0 end
  local quantum = asked[row + 4]
  if window ~= asked[row + 3] then
    quantum = 1
    while window / quantum > 1000000 do quantum = quantum * 10 end
  end
  local quanta = math.floor(window / quantum)
  local left = math.min(quanta, math.ceil((finish - now) / quantum))
  local tokens = math.floor(previous / 1000000)
  local product = tokens * left
  local whole = math.floor(product / quanta)
  local rest = (product - whole * quanta) * 1000000 + (previous - tokens * 1000000) * left
  return whole * 1000000 + math.ceil(rest / quanta)
end
local function counter(value, row, times)
  local cost, limit, length = asked[row + 1], asked[row + 2], asked[row + 3]
  local ends, passed, previous, span = 0, 0, 0, length
  local finish, current, converted
  if value then
    finish, current, previous, span, ends = read_counter(value)
    if finish then finish, current, previous, span, converted = adopt_counter(finish, current, previous, span, row) end
  end
  if not (finish and now < finish) then
    finish, current, previous = rolled(finish, current, previous, length)
    span = length
  end
  local room = limit - share(finish, previous, span, row)
  if ends > now then times = 0 end
  while passed < times and current + cost <= room do
    current, passed = current + cost, passed + 1
  end
  if passed == 0 and not converted then return 0 end
  local expires = finish
  if current > 0 then expires = finish + span end
  if ends > expires then expires = ends end
  return passed, counter_value(finish, current, previous, span, ends), expires
end
    kernels[2] = counter
  end
  return kernels[tag]
end
local function decide(value, row, times)
  local tag = asked[row]
  return (kernels[tag] or kernel(tag))(value, row, times)
end
local plain = asked[3]
local values = {}
if plain > 0 then values = call('MGET', unpack(KEYS, 1, math.min(plain, 4000))) end
for state = 4001, plain do values[state] = call('MGET', KEYS[state])[1] end
local fresh, expires = {}, {}
local told, size = {}, 0
local masks, digits, room = {}, 0, 1
local function count(passed, base)
  if room * base > 4503599627370496 then
    masks[#masks + 1] = digits
    digits, room = 0, 1
  end
  digits, room = digits * base + passed, room * base
end
local function group(at, calls)
  local open = true
  local states, ends, seen, taken, charges = {}, {}, {}, {}, {}
  local head = size
  for place = at, at + 2 * calls - 2, 2 do
    local state, row = asked[place], asked[place + 1]
    if asked[row] == 3 then
      if not seen[state] then seen[state] = logs.adopt(logs.of(state), row) end
      local log, cost = seen[state], (taken[state] or 0) + asked[row + 1]
      taken[state] = cost
      local outcome
      outcome, told[size + 2], told[size + 3], told[size + 4], told[size + 5], charges[state] = logs.decide(log, row, cost)
      told[size + 1] = outcome
      size = size + 5
      if outcome > 0 or log.ends > now then open = false end
    elseif open then
      local passed, value, needed = decide(states[state] or fresh[state] or values[state], row, 1)
      if passed == 0 then open = false else states[state], ends[state] = value, needed end
    end
  end
  if open then
    for state, value in pairs(states) do fresh[state], expires[state] = value, ends[state] end
    for state, charge in pairs(charges) do logs.charge(state, seen[state], charge) end
    return count(1, 2)
  end
  for place = at, at + 2 * calls - 2, 2 do
    local state, row = asked[place], asked[place + 1]
    if asked[row] == 3 then
      told[head + 3], told[head + 4], told[head + 5] = logs.view(seen[state], row)
      head = head + 5
    else
      local _, value, needed = decide(fresh[state] or values[state], row, 0)
      if value then fresh[state], expires[state] = value, needed end
    end
  end
  count(0, 2)
end
if plain < #KEYS then
local HEAD, ENTRY, PAGE, TURN = 47, 14, 64, 4503599627370496
local function open_log(key)
  local log = { key = key, size = 0, skip = 0, base = 0, at = 0, sum = 0, window = 0, hold = 0, ends = 0, stored = 0, anew = true }
  local value = redis.pcall('GETRANGE', key, 0, HEAD + PAGE * ENTRY - 1)
  if type(value) ~= 'string' then return log end
  local length = #value
  if length == 7 then
    local ends, inner = split(value)
    if inner == '' then log.ends = ends end
    return log
  end
  if length == HEAD + PAGE * ENTRY then length = call('STRLEN', key) end
  if length < HEAD or string.byte(value) ~= 2 or (length - HEAD) % ENTRY > 0 then return log end
  local _, ends, window, hold, base, at, sum, skip = parse('>BI7I7I7I7I7I7I4', value)
  local stored = (length - HEAD) / ENTRY
  if skip > stored or window < 1 then return log end
  log.there, log.anew, log.stored, log.size = true, false, stored, stored + 1
  log.ends, log.window, log.hold, log.base, log.at, log.sum, log.skip = ends, window, hold, base, at, sum, skip
  log.pages = { [0] = string.sub(value, HEAD + 1) }
  return log
end
local function entry(log, index)
  if index == log.size - 1 then return log.at, log.sum end
  if index == log.stored then return log.old_at, log.old_sum end
  local place = index % PAGE
  local number = (index - place) / PAGE
  local page = log.pages[number]
  if not page then
    local from = HEAD + number * PAGE * ENTRY
    page = call('GETRANGE', log.key, from, from + PAGE * ENTRY - 1)
    log.pages[number] = page
  end
  local at, sum = parse('>I7I7', page, place * ENTRY + 1)
  return at, sum
end
local function through(log, index)
  if index < log.skip then return 0 end
  local _, sum = entry(log, index)
  return (sum - log.base) % TURN
end
local function first_after(log, instant, from)
  local low, high = from, log.size
  while low < high do
    local middle = math.floor((low + high) / 2)
    if entry(log, middle) > instant then high = middle else low = middle + 1 end
  end
  return low
end
local function first_through(log, sum, from)
  local low, high = from, log.size
  while low < high do
    local middle = math.floor((low + high) / 2)
    if through(log, middle) >= sum then high = middle else low = middle + 1 end
  end
  return low
end
local function charge_log(log, from, time, merges, cost, window, hold)
  log.dirty, log.there, log.window, log.hold = true, true, window, hold
  if from == log.size then
    log.anew, log.stored, log.size, log.skip, log.base, log.at, log.sum = true, 0, 1, 0, 0, time, cost
    return
  end
  if from > log.skip then
    local _, base = entry(log, from - 1)
    log.base, log.skip = base, from
  end
  if not merges then
    log.old_at, log.old_sum, log.size = log.at, log.sum, log.size + 1
  end
  log.at, log.sum = time, (log.sum + cost) % TURN
end
local function log_ends(log)
  local expires = log.at + log.window
  if log.hold > log.window then expires = log.at + log.hold end
  return expires
end
local function save_log(log)
  local expires = log_ends(log)
  if log.ends > expires then expires = log.ends end
  local more = log.size - 1 > log.stored
  local added = ''
  if more and log.skip <= log.stored then added = pack('>I7I7', log.old_at, log.old_sum) end
  local skip = log.skip
  local whole = log.anew or log.stored <= PAGE or skip > log.size - skip
  if whole then skip = 0 end
  local head = pack('>BI7I7I7I7I7I7I4', 2, log.ends, log.window, log.hold, log.base, log.at, log.sum, skip)
  if whole then
    local body = ''
    if not log.anew then
      if log.stored <= PAGE then
        body = string.sub(log.pages[0], log.skip * ENTRY + 1)
      else
        body = call('GETRANGE', log.key, HEAD + log.skip * ENTRY, -1)
      end
    end
    return put(log.key, head .. body .. added, expires)
  end
  call('SETRANGE', log.key, 0, head)
  if more then call('APPEND', log.key, added) end
  if given == 0 then return call('PEXPIREAT', log.key, (expires - expires % 1000) / 1000) end
  local life = expires - now
  call('PEXPIRE', log.key, (life + (-life) % 1000) / 1000 + SLACK)
end
local MOST = 10000
local function adopt_log(log, row)
  local length = asked[row + 3]
  if not log.there or log.window == length then return log end
  local hold = log.window
  if log.hold > hold then hold = log.hold end
  if log.at + hold <= now then
    return { key = log.key, size = 0, skip = 0, base = 0, at = 0, sum = 0, window = 0, hold = 0, ends = log.ends, stored = 0, anew = true }
  end
  log.window, log.dirty = length, true
  if hold > length then log.hold = hold else log.hold = 0 end
  return log
end
local function fits_at(log, row, first, last, newest, used, cost)
  local index = first_through(log, through(log, first - 1) + used + cost - asked[row + 2], first)
  if index < last then newest = entry(log, index) end
  return newest + asked[row + 3]
end
local function look_log(log, row, first, last, newest, used)
  local limit = asked[row + 2]
  local remaining, reset = 0, 0
  if limit > used then remaining = math.floor((limit - used) / 1000000) end
  if used > 0 then reset = newest + asked[row + 3] - now end
  local more = (remaining + 1) * 1000000
  if more > limit then return remaining, reset, reset end
  return remaining, fits_at(log, row, first, last, newest, used, more) - now, reset
end
local function used_of(log, row)
  local time = now
  if log.at > now then time = log.at end
  local first = first_after(log, time - asked[row + 3], log.skip)
  return time, first, through(log, log.size - 1) - through(log, first - 1)
end
local function decide_log(log, row, cost)
  local limit = asked[row + 2]
  local time, first, used = used_of(log, row)
  if cost > limit - used then
    if cost > limit then return 2, 0, look_log(log, row, first, log.size, log.at, used) end
    return 1, fits_at(log, row, first, log.size, time, used, cost) - now, look_log(log, row, first, log.size, log.at, used)
  end
  local from, hold = first, log.hold
  if hold > 0 then from = first_after(log, time - hold, log.skip) end
  local kept = log.size - from
  local merges = kept > 0 and log.at == time
  local most = asked[row + 4]
  if hold > 0 then most = MOST end
  if not merges and kept >= most then
    if from < first then from = from + 1 else merges = true end
  end
  if kept == 0 then hold = 0 end
  local last = log.size
  if merges then last = last - 1 end
  local remaining, replenish, reset = look_log(log, row, first, last, time, used + cost)
  return 0, 0, remaining, replenish, reset, { from, time, merges, cost, asked[row + 3], hold }
end
local function view_log(log, row)
  local _, first, used = used_of(log, row)
  return look_log(log, row, first, log.size, log.at, used)
end
  local open = {}
  logs = {
    of = function(state)
      if not open[state] then open[state] = open_log(KEYS[state]) end
      return open[state]
    end,
    adopt = adopt_log,
    decide = decide_log,
    view = view_log,
    charge = function(state, log, charge)
      open[state] = log
      charge_log(log, charge[1], charge[2], charge[3], charge[4], charge[5], charge[6])
    end,
    save = function()
      for _, log in pairs(open) do
        if log.dirty then save_log(log) end
      end
    end,
  }
  for state = plain + 1, #KEYS do
    local ends = logs.of(state).ends
    values[state] = ends > 0 and ends
  end
end
local at, last = 5 + asked[4], #asked
while at <= last do
  local calls = asked[at]
  if calls == 0 then
    local row, times = asked[at + 1], asked[at + 4]
    for state = asked[at + 2], asked[at + 3] do
      local passed, value, needed = decide(fresh[state] or values[state], row, times)
      if value then fresh[state], expires[state] = value, needed end
      count(passed, times + 1)
    end
    at = at + 5
  else
    group(at + 1, calls)
    at = at + 1 + 2 * calls
  end
end
if asked[2] == 1 then
  for state, value in pairs(fresh) do put(KEYS[state], value, expires[state]) end
  if logs then logs.save() end
end
size = #KEYS + 1
values[size] = now
for place = 1, #told do values[size + place] = told[place] end
size = size + #told
for place = 1, #masks do values[size + place] = masks[place] end
values[size + #masks + 1] = digits
return values
`,
}
