// Made from the programs beside this file by `npm run generate`; edit those, not this.

export interface Program {
  readonly sha1: string
  readonly source: string
}

export const adjustProgram: Program = {
  sha1: '7aa7088c860a49478b5894457115f0892acf595a',
  source: `local call, KEYS = redis.call, KEYS
local pack, parse = struct.pack, struct.unpack
local asked = cjson.decode(ARGV[1])
local given = asked[1]
local clock = given == 0 and call('TIME')
local now = clock and clock[1] * 1000000 + clock[2] or given
local function make(file, ...)
if file == 'state' then
local read_string, put_string, keep, remove_string, extra, last_of = make 'strings'
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
if given == 0 and last * 1000 >= expires then
if #head == 6 + #plans then
added = call('HSET', key, member, compact)
else
added = call('HSET', key, member, compact, '', string.sub(head, 1, 6) .. plans)
end
else
local longer = expires + math.max(0, expires - now) / 4
added = call('HSET', key, member, compact, '', pack('>I6', math.max(last, math.floor(longer / 1000))) .. plans)
if given ~= 0 and head then
call('PEXPIREAT', key, last_of(longer), 'GT')
else
call('PEXPIREAT', key, last_of(longer))
end
end
if added > 0 and given == 0 and now % 16 == 0 then
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
elseif file == 'strings' then
local extra = (ARGV[3] or 0) + 0
local function read(state)
local value = redis.pcall('GET', KEYS[state])
return type(value) == 'string' and value
end
local function last_of(expires)
if given == 0 then return math.floor(expires / 1000) end
local time = call('TIME')
return time[1] * 1000 + math.ceil(math.max(0, expires - now) / 1000) + 60000
end
local function put(state, value, expires)
call('SET', KEYS[state], value, 'PXAT', last_of(expires + extra))
end
local function keep(state, expires)
call('PEXPIREAT', KEYS[state], last_of(expires + extra))
end
local function remove(state)
call('DEL', KEYS[state])
end
return read, put, keep, remove, extra, last_of
elseif file == 'packed-value' then
local function expanded(value, head)
local size = #value
if size ~= 13 and size ~= 14 then return value end
local high, low, age, place = parse('>I3I4I5B', value)
if high < 6291456 or high >= 10485760 or #head < 6 + 13 * place or place < 1 then return value end
local n, m, burst = parse('>I3I5I5', head, 13 * place - 6)
local rest = 0
if size == 14 then rest = string.byte(value, 14) end
return pack('>I3I4I3I5I3I5I5', high, low, rest, age, n, m, burst)
end
local function compacted(value, plans)
if #value ~= 28 then return value, plans end
local high, low, rest, age = parse('>I3I4I3I5', value)
if high < 6291456 or high >= 10485760 or rest > 255 then return value, plans end
local plan, place = string.sub(value, 16), 0
for at = 1, #plans, 13 do
if string.sub(plans, at, at + 12) == plan then place = (at + 12) / 13 end
end
if place == 0 then
if #plans > 51 then return value, plans end
plans = plans .. plan
place = #plans / 13
end
local compact = pack('>I3I4I5B', high, low, age, place)
if rest > 0 then compact = compact .. string.char(rest) end
return compact, plans
end
return expanded, compacted
elseif file == 'sweep' then
local expanded, extra = ...
local split = make 'block-value'
local state_until = make 'state-until'
return function(key)
local all = call('HRANDFIELD', key, 128, 'WITHVALUES')
local head = call('HGET', key, '')
for place = 1, #all, 2 do
local value = expanded(all[place + 1], head)
local ends = split(value)
if all[place] ~= '' and (state_until(value) or 0) + extra <= now and ends + extra <= now then call('HDEL', key, all[place]) end
end
end
elseif file == 'block-value' then
local function split(value)
local ends, inner = 0, value
if #value >= 7 then
local high, low = parse('>I3I4', value)
if high >= 14680064 then ends, inner = (high - 14680064) * 4294967296 + low, string.sub(value, 8) end
end
if string.byte(inner) == 1 then return 9000000000000000, '' end
return ends, inner
end
local function block_value(ends)
local low = ends % 4294967296
return pack('>I3I4', 14680064 + (ends - low) / 4294967296, low)
end
local function blocked(value, ends)
if ends + 60000000 <= now then return value end
return block_value(ends) .. value
end
return split, block_value, blocked
elseif file == 'state-until' then
local read_bucket = make 'bucket-value'
local flow, cut = make 'bucket-flow'
local _, _, leased_until = make('bucket-leases', flow, cut)
local read_window, _, window_until = make 'window-value'
local read_counter = make 'counter-value'
return function(value)
local zero, rest, seen, hold, n, m, burst, _, leases = read_bucket(value, 0)
if zero then return leased_until(zero, rest, seen, hold, n, m, burst, leases or {}) end
local finish, _, length, turn = read_window(value)
if finish then return window_until(finish, length, turn) end
local ended, current, _, window = read_counter(value)
if ended and current > 0 then return ended + window end
return ended
end
elseif file == 'bucket-value' then
local split, _, blocked = make 'block-value'
local function is_possible(rest, seen, hold, n, m, burst)
if rest >= n or seen > 9007199254740991 or hold > 3200000000000000 then return false end
if m < 1 or burst < 1 or m > 9007199254 then return false end
return n * (burst / 1000000 + 2) <= 9007199254740992 and burst / n * m <= 3200000000000000
end
local function read_bucket(value, ends)
local size = #value
local high, low, rest, age, seen, hold, n, m, burst
if size == 12 then
high, low, age, n, burst = parse('>I3I4I3BB', value)
rest, hold, m, burst = 0, 0, 1, burst * 1000000
elseif size == 28 then
high, low, rest, age, n, m, burst = parse('>I3I4I3I5I3I5I5', value)
hold = 0
elseif size >= 49 and (size - 49) % 28 == 0 then
high, low, rest, seen, hold, n, m, burst = parse('>I3I4I7I7I7I7I7I7', value)
end
if high and high >= 6291456 and high < 10485760 then
local zero, leases = (high - 8388608) * 4294967296 + low, nil
seen = seen or zero + age
if not is_possible(rest, seen, hold, n, m, burst) then return nil, nil, nil, nil, nil, nil, nil, 0 end
for at = 50, size, 28 do
leases = leases or {}
leases[#leases + 1] = { parse('>I7I7I7I7', value, at) }
end
return zero, rest, seen, hold, n, m, burst, ends, leases
end
local until_then, inner = split(value)
if until_then == 0 or ends > 0 then return nil, nil, nil, nil, nil, nil, nil, 0 end
if inner == '' then return nil, nil, nil, nil, nil, nil, nil, until_then end
return read_bucket(inner, until_then)
end
local function bucket_value(zero, rest, seen, hold, n, m, burst, ends, leases)
local low, age = zero % 4294967296, seen - zero
local high = 8388608 + (zero - low) / 4294967296
local value
if hold > 0 or leases or age < 0 or age >= 1099511627776 or n >= 16777216 or burst >= 1099511627776 then
value = pack('>I3I4I7I7I7I7I7I7', high, low, rest, seen, hold, n, m, burst)
for _, lease in ipairs(leases or {}) do value = value .. pack('>I7I7I7I7', lease[1], lease[2], lease[3], lease[4]) end
elseif m == 1 and rest == 0 and age < 16777216 and n < 256 and burst < 256000000 and burst % 1000000 == 0 then
value = pack('>I3I4I3BB', high, low, age, n, burst / 1000000)
else
value = pack('>I3I4I3I5I3I5I5', high, low, rest, age, n, m, burst)
end
if ends > 0 then return blocked(value, ends) end
return value
end
return read_bucket, bucket_value
elseif file == 'bucket-flow' then
local function flow(n, m, micro, from)
local token = m * 1000000
local token_rest, micro_rest = token % n, m % n
local parts = micro % 1000000
local tokens = (micro - parts) / 1000000
local sum = from + tokens * token_rest + parts * micro_rest
local left = sum % n
return tokens * ((token - token_rest) / n) + parts * ((m - micro_rest) / n) + (sum - left) / n, left
end
local function pieces(n, m, unit, from, span)
local count = 0
if span <= 0 then return count end
local guess = (span - from / n) / (m * unit / n) * (1 - 2 ^ -50)
if guess > 0 then count = guess - guess % 1 end
while true do
local micros, left = flow(n, m, (count + 1) * unit, from)
if micros > span or (micros == span and left > 0) then return count end
count = count + 1
end
end
local function cut(zero, rest, n, m, micro, time)
if micro < 0 then micro = 0 end
local span, left = flow(n, m, micro, 0)
local low, low_rest = time - span, 0
if left > 0 then low, low_rest = low - 1, n - left end
if zero > low or (zero == low and rest >= low_rest) then return zero, rest end
return low, low_rest
end
local function level_of(zero, rest, n, m, time)
local tokens = pieces(n, m, 1000000, rest, time - zero)
local micros, left = flow(n, m, tokens * 1000000, rest)
zero, rest = zero + micros, left
local parts = pieces(n, m, 1, rest, time - zero)
return tokens * 1000000 + parts, zero, rest, parts
end
local function owed_span(n, m, tokens)
local token = m * 1000000
local rest = token % n
local half = rest % 131072
local one = tokens * ((rest - half) / 131072)
local first = one % n
local carried = first * 131072 + tokens * half
local left = carried % n
return tokens * ((token - rest) / n) + (one - first) / n * 131072 + (carried - left) / n, left
end
local function latest_zero(n, m, burst, time)
return math.min(time + 3155760000000000, 9007199254740990 - (flow(n, m, burst, 0)))
end
return flow, cut, level_of, owed_span, latest_zero
elseif file == 'bucket-leases' then
local flow, cut = ...
local function out_on(leases)
local out = 0
for _, lease in ipairs(leases) do out = out + lease[3] end
return out
end
local function settle(zero, rest, n, m, burst, leases, time)
local out, left = out_on(leases), {}
for _, lease in ipairs(leases) do
if lease[4] <= time and #left == 0 then
zero, rest = cut(zero, rest, n, m, burst - out, lease[4])
out = out - lease[3]
else
left[#left + 1] = lease
end
end
if #left == 0 then return zero, rest, nil end
zero, rest = cut(zero, rest, n, m, burst - out, time)
return zero, rest, left
end
local function leased_until(zero, rest, seen, hold, n, m, burst, leases)
local out = out_on(leases)
for _, lease in ipairs(leases) do
zero, rest = cut(zero, rest, n, m, burst - out, lease[4])
out = out - lease[3]
end
local micros, left = flow(n, m, burst, rest)
local expires = zero + micros
if left > 0 then expires = expires + 1 end
if hold > 0 and seen + hold > expires then expires = seen + hold end
return expires
end
return out_on, settle, leased_until
elseif file == 'window-value' then
local split, _, blocked = make 'block-value'
local function read_window(value)
local ends, inner = 0, value
if #value ~= 21 then ends, inner = split(value) end
if #inner == 21 then
local high, low, count, turn, window = parse('>I3I4I7BI6', inner)
window = turn % 16 * 281474976710656 + window
if high >= 10485760 and high < 12582912 and window > 0 then
return (high - 10485760) * 4294967296 + low, count, window, math.floor(turn / 16), ends
end
end
if inner == value then ends, inner = split(value) end
return nil, nil, nil, nil, inner == '' and ends or 0
end
local function window_value(finish, count, window, turn, ends)
local low, short = finish % 4294967296, window % 281474976710656
local top = turn * 16 + (window - short) / 281474976710656
local value = pack('>I3I4I7BI6', 10485760 + (finish - low) / 4294967296, low, count, top, short)
if ends > 0 then return blocked(value, ends) end
return value
end
local function window_until(finish, window, turn)
if turn > 2 then return finish + window end
return finish + math.ceil(window / (turn == 2 and 4 or turn == 1 and 16 or 64))
end
return read_window, window_value, window_until
elseif file == 'counter-value' then
local split, _, blocked = make 'block-value'
local function read_counter(value)
local ends, inner = 0, value
if #value ~= 28 then ends, inner = split(value) end
if #inner == 28 then
local high, low, current, previous, absent, window = parse('>I3I4I7I7BI6', inner)
window = absent % 16 * 281474976710656 + window
if high >= 12582912 and high < 14680064 and window > 0 then
return (high - 12582912) * 4294967296 + low, current, previous, window, math.floor(absent / 16), ends
end
end
if inner == value then ends, inner = split(value) end
return nil, nil, nil, nil, nil, inner == '' and ends or 0
end
local function counter_value(finish, current, previous, window, absent, ends)
local low, short = finish % 4294967296, window % 281474976710656
local top = absent * 16 + (window - short) / 281474976710656
local value = pack('>I3I4I7I7BI6', 12582912 + (finish - low) / 4294967296, low, current, previous, top, short)
if ends > 0 then return blocked(value, ends) end
return value
end
return read_counter, counter_value
elseif file == 'drop' then
local put, remove, extra = ...
local _, block_value = make 'block-value'
return function(state, ends)
if ends > now then return put(state, block_value(ends), ends) end
if extra > 0 then return put(state, block_value(1), now) end
remove(state)
end
elseif file == 'bucket-adopt' then
local flow, cut, level_of, owed_span, latest_zero, out_on, settle = ...
local function adopt_bucket(zero, rest, seen, hold, old_n, old_m, old_burst, n, m, burst, leases)
local time = now
if seen > now then time = seen end
if leases then
zero, rest, leases = settle(zero, rest, old_n, old_m, old_burst, leases, time)
end
local full, full_rest = flow(old_n, old_m, old_burst, 0)
local fresh, fresh_rest = flow(old_n, old_m, old_burst, rest)
local ends = zero + fresh
if fresh_rest > 0 then ends = ends + 1 end
if hold > 0 and seen + hold > ends then ends = seen + hold end
if ends <= time then return nil end
local longest = full
if full_rest > 0 then longest = full + 1 end
zero, rest = cut(zero, rest, old_n, old_m, old_burst, time)
local debt = 0
if zero > time or (zero == time and rest > 0) then
local token = old_m * 1000000
local token_rest = token % old_n
debt = math.min(9007199256, math.floor((zero - time + 1) / ((token - token_rest) / old_n + token_rest / old_n)) + 1)
local put, put_rest = owed_span(old_n, old_m, debt)
zero, rest = zero - put, rest - put_rest
if rest < 0 then zero, rest = zero - 1, rest + old_n end
end
local micro, parts
micro, zero, rest, parts = level_of(zero, rest, old_n, old_m, time)
local part = (time - zero) * old_n - rest - parts * old_m
local extra = 0
if debt == 0 and micro >= burst then
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
zero, rest = time - span - (behind + (-behind) % n) / n, (-behind) % n
if debt > 0 then
local owed, owed_rest = owed_span(n, m, debt)
zero, rest = zero + owed, rest + owed_rest
if rest >= n then zero, rest = zero + 1, rest - n end
end
local latest = latest_zero(n, m, burst, time)
if zero > latest or (zero == latest and rest > 0) then zero, rest = latest, 0 end
if leases then
zero, rest = cut(zero, rest, n, m, burst - out_on(leases), time)
end
return zero, rest, time, longest, leases
end
return adopt_bucket
elseif file == 'window-adopt' then
local window_until = ...
local function fresh_end(row, time)
local length = asked[row + 3]
if asked[row + 4] == 1 then return time + length end
local shifted = time - asked[row + 8]
return shifted - shifted % length + length + asked[row + 8]
end
local function adopt_window(finish, count, window, turn, row)
local length = asked[row + 3]
if window == length and turn < 5 then return finish, count, window, turn, false end
if now >= finish then
if now >= window_until(finish, window, turn) then return nil end
return finish, count, window, turn, false
end
if turn == 6 then
if length <= window then return finish, count, window, turn, false end
return finish, 9007199254740991, length, 4, true
end
if window == length then return finish, count, window, 4, true end
if length < window and turn >= 4 then return finish, count, window, turn, false end
local last = fresh_end(row, now)
if length > window and asked[row + 4] == 1 then
last = finish - window + length
elseif finish > last then
last = finish
end
return last, count, math.max(window, length), 4, true
end
local function begun(finish, window, turn, row)
local length, own = asked[row + 3], fresh_end(row, now)
if not finish or now >= window_until(finish, window, turn) then return own, length, 0 end
if length > window then return math.max(own, finish + window), length, 4 end
if length < window and turn < 5 then return finish + window, window, 5 end
if asked[row + 4] ~= 1 and own - length < finish then own = own + length end
return own, length, 0
end
local function part_of(finish, count, window, turn, row)
local limit, length, part = asked[row + 2], asked[row + 3], 0
if turn >= 5 and length < window then
part = math.max(0, math.min(math.floor((now - finish + window) / length), math.floor(window / length) - 1))
end
local start, base = finish - window + part * length, part * limit
local used = math.max(0, count - base)
if turn == 6 or turn == 5 and base > 9007199254740991 - 2 * limit then return start, 0, used, finish - start, 6 end
return start, base, used, window, turn
end
local function turn_of(turn, count, limit)
if turn >= 4 then return turn end
if count * 4 > limit then return 3 end
return count * 16 > limit and 2 or count * 64 > limit and 1 or 0
end
return adopt_window, begun, part_of, turn_of
elseif file == 'counter-adopt' then
local function rolled(finish, current, previous, length)
if finish and now < finish then return finish, current, previous end
if not finish or now >= finish + length then return now - now % length + length, 0, 0 end
return finish + length, 0, current
end
local function adopt_counter(finish, current, previous, window, absent, row)
local length = asked[row + 3]
if window == length then
if absent == 0 or now >= finish then return finish, current, previous, window, absent, false end
return finish, current, previous, window, 0, true
end
if window > length and now < finish then return finish, current, previous, window, absent, false end
finish, current, previous = rolled(finish, current, previous, window)
if window > length and absent == 0 then
if previous == 0 then return nil end
return finish, current, previous, window, 1, true
end
finish = finish - window + length
if now >= finish or current + previous == 0 then return nil end
return finish, current, previous, length, 0, true
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
return adopt_counter, rolled, share
elseif file == 'log-value' then
local put, keep = ...
local split = make 'block-value'
local HEAD, ENTRY, PAGE, TURN = 47, 14, 64, 4503599627370496
local function new_log(state, ends)
return { state = state, size = 0, skip = 0, base = 0, at = 0, sum = 0, window = 0, hold = 0, ends = ends, stored = 0, anew = true }
end
local function open_log(state)
local key, log = KEYS[state], new_log(state, 0)
local value = redis.pcall('GETRANGE', key, 0, HEAD + PAGE * ENTRY - 1)
if type(value) ~= 'string' then return log end
local length = #value
if length == HEAD + PAGE * ENTRY then length = call('STRLEN', key) end
if length < HEAD or string.byte(value) ~= 2 or (length - HEAD) % ENTRY > 0 then
local ends, inner = split(value)
if inner == '' then log.ends = ends end
return log
end
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
page = call('GETRANGE', KEYS[log.state], from, from + PAGE * ENTRY - 1)
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
local function charge_log(log, charge)
local from = charge.from
log.dirty, log.there, log.window, log.hold = true, true, charge.window, charge.hold
if from == log.size then
log.anew, log.stored, log.size, log.skip, log.base, log.at, log.sum = true, 0, 1, 0, 0, charge.time, charge.cost
return
end
if from > log.skip then
local _, base = entry(log, from - 1)
log.base, log.skip = base, from
end
if not charge.merges then
log.old_at, log.old_sum, log.size = log.at, log.sum, log.size + 1
end
log.at, log.sum = charge.time, (log.sum + charge.cost) % TURN
end
local function log_head(log, skip)
return pack('>BI7I7I7I7I7I7I4', 2, log.ends, log.window, log.hold, log.base, log.at, log.sum, skip)
end
local function log_expires(log)
local expires = log.at + log.window
if log.hold > log.window then expires = log.at + log.hold end
if log.ends > expires then expires = log.ends end
return expires
end
local function save_log(log)
local expires = log_expires(log)
local more = log.size - 1 > log.stored
local added = ''
if more and log.skip <= log.stored then added = pack('>I7I7', log.old_at, log.old_sum) end
local skip = log.skip
local whole = log.anew or log.stored <= PAGE or skip > log.size - skip
if whole then skip = 0 end
local head = log_head(log, skip)
if whole then
local body = ''
if not log.anew then
if log.stored <= PAGE then
body = string.sub(log.pages[0], log.skip * ENTRY + 1)
else
body = call('GETRANGE', KEYS[log.state], HEAD + log.skip * ENTRY, -1)
end
end
return put(log.state, head .. body .. added, expires)
end
call('SETRANGE', KEYS[log.state], 0, head)
if more then call('APPEND', KEYS[log.state], added) end
keep(log.state, expires)
end
return {
HEAD = HEAD,
ENTRY = ENTRY,
TURN = TURN,
new = new_log,
open = open_log,
entry = entry,
through = through,
first_after = first_after,
first_through = first_through,
charge = charge_log,
head = log_head,
expires = log_expires,
save = save_log,
}
elseif file == 'log-adopt' then
local logs = ...
local first_after, through = logs.first_after, logs.through
local MOST = 10000
local function adopt_log(log, row)
local length = asked[row + 3]
if not log.there or log.window == length then return log end
local hold = log.window
if log.hold > hold then hold = log.hold end
if log.at + hold <= now then
return logs.new(log.state, log.ends)
end
log.window, log.dirty = length, true
if hold > length then log.hold = hold else log.hold = 0 end
return log
end
local function used_of(log, row)
local time = now
if log.at > now then time = log.at end
local first = first_after(log, time - asked[row + 3], log.skip)
return time, first, through(log, log.size - 1) - through(log, first - 1)
end
local function charge_of(log, row, first, time, cost)
local from, hold, most = first, log.hold, asked[row + 4]
if hold > 0 then from, most = first_after(log, time - hold, log.skip), MOST end
local kept = log.size - from
local merges = kept > 0 and log.at == time
if not merges and kept >= most then
if from < first then from = from + 1 else merges = true end
end
if kept == 0 then hold = 0 end
return { from = from, time = time, merges = merges, cost = cost, window = asked[row + 3], hold = hold }
end
return adopt_log, used_of, charge_of
elseif file == 'log-refund' then
local logs, drop, put, receipt = ...
local entry, through, HEAD, ENTRY, TURN = logs.entry, logs.through, logs.HEAD, logs.ENTRY, logs.TURN
return function(log, first, oldest, amount)
local left, start, taken = amount, log.size, {}
local function take(index)
local part = through(log, index) - through(log, index - 1)
if part > left then part = left end
taken[index], left = part, left - part
end
if receipt < 0 then
while start > first and left > 0 do
start = start - 1
take(start)
end
elseif receipt > oldest then
start = logs.first_after(log, receipt - 1, first)
for index = start, log.size - 1 do take(index) end
end
if left == amount then return false end
local tail, sum = {}, (log.base + through(log, start - 1)) % TURN
for index = start, log.size - 1 do
local rest = through(log, index) - through(log, index - 1) - (taken[index] or 0)
if rest > 0 then
sum = (sum + rest) % TURN
tail[#tail + 1] = { (entry(log, index)), sum }
end
end
local ahead = start
if #tail == 0 then
if start == log.skip then
drop(log.state, log.ends)
return true
end
ahead = start - 1
log.at, log.sum = entry(log, ahead)
else
log.at, log.sum = unpack(tail[#tail])
end
local body = ''
if ahead > log.skip then body = call('GETRANGE', KEYS[log.state], HEAD + log.skip * ENTRY, HEAD + ahead * ENTRY - 1) end
for index = 1, #tail - 1 do body = body .. pack('>I7I7', tail[index][1], tail[index][2]) end
put(log.state, logs.head(log, 0) .. body, logs.expires(log))
return true
end
end
end
local receipt = asked[2]
local read, put, keep, remove, extra = make 'state'
local drop = make('drop', put, remove, extra)
local NEWER = 9000000000000000
local function adjust_bucket(state, row, sign)
local read_bucket, bucket_value = make 'bucket-value'
local flow, cut, level_of, owed_span, latest_zero = make 'bucket-flow'
local out_on, settle, leased_until = make('bucket-leases', flow, cut)
local n, m, burst = asked[row + 1], asked[row + 2], asked[row + 3]
local empty, empty_rest, cost, cost_rest = asked[row + 4], asked[row + 5], asked[row + 6], asked[row + 7]
if asked[row] == 0 then
local parts = empty * m
cost_rest = parts % n
cost = (parts - cost_rest) / n
parts = burst * m
empty_rest = -parts % n
empty = (parts + empty_rest) / n
end
local time, ends = now, 0
local value = read(state)
local zero, rest, seen, hold, leases, converted
if value then
local old_n, old_m, old_burst
zero, rest, seen, hold, old_n, old_m, old_burst, ends, leases = read_bucket(value, 0)
if ends == NEWER then return true end
if zero and (old_n ~= n or old_m ~= m or old_burst ~= burst) then
local adopt_bucket = make('bucket-adopt', flow, cut, level_of, owed_span, latest_zero, out_on, settle)
zero, rest, seen, hold, leases = adopt_bucket(zero, rest, seen, hold, old_n, old_m, old_burst, n, m, burst, leases)
converted = true
end
if zero and seen > now then time = seen end
end
if sign > 0 and receipt >= 0 and receipt <= time - empty then
if not converted then return end
if not zero then return drop(state, ends) end
else
if leases then zero, rest, leases = settle(zero, rest, n, m, burst, leases, time) end
local low = time - empty
if not zero then
zero, rest, hold = low, empty_rest, 0
elseif zero < low or (zero == low and rest <= empty_rest) then
zero, rest = low, empty_rest
if hold > 0 and time >= seen + hold then hold = 0 end
end
local most, most_rest = time + empty, 0
if empty_rest > 0 then most, most_rest = most - 1, n - empty_rest end
local latest = latest_zero(n, m, burst, time)
if most > latest or (most == latest and most_rest > 0) then most, most_rest = latest, 0 end
if zero > most or (zero == most and rest > most_rest) then most, most_rest = zero, rest end
local sum = rest - sign * cost_rest
local left = sum % n
zero, rest, seen = zero - sign * cost + (sum - left) / n, left, time
if sign < 0 and (zero > most or (zero == most and rest > most_rest)) then zero, rest = most, most_rest end
if leases then zero, rest = cut(zero, rest, n, m, burst - out_on(leases), time) end
end
local expires = zero + empty
if rest > empty_rest then expires = expires + 1 end
if hold > 0 and seen + hold > expires then expires = seen + hold end
if leases then
expires = leased_until(zero, rest, seen, hold, n, m, burst, leases)
elseif expires <= time then
return drop(state, ends)
end
if ends > expires then expires = ends end
put(state, bucket_value(zero, rest, seen, hold, n, m, burst, ends, leases), expires)
end
local function adjust_window(state, row, sign)
local read_window, window_value, window_until = make 'window-value'
local adopt_window, begun, part_of, turn_of = make('window-adopt', window_until)
local amount, limit = asked[row + 1], asked[row + 2]
local ends = 0
local value = read(state)
local finish, count, span, turn, converted
if value then
local there
finish, count, span, turn, ends = read_window(value)
if ends == NEWER then return true end
there = finish
if finish then finish, count, span, turn, converted = adopt_window(finish, count, span, turn, row) end
if there and not finish then drop(state, ends) end
end
local last, long, who, taken = finish, span, turn, count
if not (finish and now < finish) then
last, long, who = begun(finish, span, turn, row)
taken = 0
end
local start, base, used
start, base, used, long, who = part_of(last, taken, long, who, row)
if sign > 0 then
if used > 0 and not (receipt >= 0 and receipt < start) then
taken, converted = base + used - math.min(amount, used), true
if taken == 0 and who < 4 then return drop(state, ends) end
finish, count, span, turn = last, taken, long, turn_of(who, taken, limit)
end
elseif used < 2 * limit then
taken, converted = base + math.min(2 * limit, used + amount), true
finish, count, span, turn = last, taken, long, turn_of(who, taken, limit)
end
if not converted then return end
put(state, window_value(finish, count, span, turn, ends), math.max(window_until(finish, span, turn), ends))
end
local function adjust_counter(state, row, sign)
local read_counter, counter_value = make 'counter-value'
local adopt_counter, rolled, share = make 'counter-adopt'
local amount, limit, length = asked[row + 1], asked[row + 2], asked[row + 3]
local ends = 0
local value = read(state)
local finish, current, previous, span, absent, converted
if value then
local there
finish, current, previous, span, absent, ends = read_counter(value)
if ends == NEWER then return true end
there = finish
if finish then finish, current, previous, span, absent, converted = adopt_counter(finish, current, previous, span, absent, row) end
if there and not finish then drop(state, ends) end
end
local kept = finish and now < finish
local ended, now_current, now_previous = rolled(finish, current, previous, length)
if not kept then span, absent = length, 0 end
if sign < 0 then
local room = 2 * limit - now_current - share(ended, now_previous, span, row)
if room > 0 then
finish, current, previous, converted = ended, now_current + math.min(room, amount), now_previous, true
end
elseif not (receipt >= 0 and receipt < ended - 2 * span) then
local start = ended - span
local of_current, of_previous = math.min(now_current, amount), 0
if receipt >= 0 and receipt < start then of_current = 0 end
if receipt < start then of_previous = math.min(now_previous, amount - of_current) end
if of_current + of_previous > 0 then
finish, current, previous, converted = ended, now_current - of_current, now_previous - of_previous, true
if current + previous == 0 then return drop(state, ends) end
end
end
if not converted then return end
local expires = finish
if current > 0 then expires = finish + span end
put(state, counter_value(finish, current, previous, span, absent, ends), math.max(expires, ends))
end
local function adjust_log(state, row, sign)
local logs = make('log-value', put, keep)
local adopt_log, used_of, charge_of = make('log-adopt', logs)
local stored = logs.open(state)
if stored.ends == NEWER then return true end
local log = adopt_log(stored, row)
if stored.there and not log.there then drop(state, log.ends) end
local time, first, used = used_of(log, row)
if sign > 0 then
local refund_log = make('log-refund', logs, drop, put, receipt)
if refund_log(log, first, time - asked[row + 3], asked[row + 1]) then return end
else
local added = math.min(asked[row + 1], 2 * asked[row + 2] - used)
if added > 0 then logs.charge(log, charge_of(log, row, first, time, added)) end
end
if log.dirty then logs.save(log) end
end
local kernels = { [0] = adjust_bucket, adjust_window, adjust_counter, adjust_log, adjust_bucket }
local newer = {}
for place = 1, asked[3] do
local row = asked[2 + 2 * place]
if kernels[asked[row]](place, row, asked[3 + 2 * place]) then newer[#newer + 1] = place end
end
return newer
`,
}

export const blockProgram: Program = {
  sha1: '7280f126b12f4a47d277cf3bbd2f2fa0dea08590',
  source: `local call, KEYS = redis.call, KEYS
local pack, parse = struct.pack, struct.unpack
local asked = cjson.decode(ARGV[1])
local given = asked[1]
local clock = given == 0 and call('TIME')
local now = clock and clock[1] * 1000000 + clock[2] or given
local function make(file, ...)
if file == 'state' then
local read_string, put_string, keep, remove_string, extra, last_of = make 'strings'
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
if given == 0 and last * 1000 >= expires then
if #head == 6 + #plans then
added = call('HSET', key, member, compact)
else
added = call('HSET', key, member, compact, '', string.sub(head, 1, 6) .. plans)
end
else
local longer = expires + math.max(0, expires - now) / 4
added = call('HSET', key, member, compact, '', pack('>I6', math.max(last, math.floor(longer / 1000))) .. plans)
if given ~= 0 and head then
call('PEXPIREAT', key, last_of(longer), 'GT')
else
call('PEXPIREAT', key, last_of(longer))
end
end
if added > 0 and given == 0 and now % 16 == 0 then
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
elseif file == 'strings' then
local extra = (ARGV[3] or 0) + 0
local function read(state)
local value = redis.pcall('GET', KEYS[state])
return type(value) == 'string' and value
end
local function last_of(expires)
if given == 0 then return math.floor(expires / 1000) end
local time = call('TIME')
return time[1] * 1000 + math.ceil(math.max(0, expires - now) / 1000) + 60000
end
local function put(state, value, expires)
call('SET', KEYS[state], value, 'PXAT', last_of(expires + extra))
end
local function keep(state, expires)
call('PEXPIREAT', KEYS[state], last_of(expires + extra))
end
local function remove(state)
call('DEL', KEYS[state])
end
return read, put, keep, remove, extra, last_of
elseif file == 'packed-value' then
local function expanded(value, head)
local size = #value
if size ~= 13 and size ~= 14 then return value end
local high, low, age, place = parse('>I3I4I5B', value)
if high < 6291456 or high >= 10485760 or #head < 6 + 13 * place or place < 1 then return value end
local n, m, burst = parse('>I3I5I5', head, 13 * place - 6)
local rest = 0
if size == 14 then rest = string.byte(value, 14) end
return pack('>I3I4I3I5I3I5I5', high, low, rest, age, n, m, burst)
end
local function compacted(value, plans)
if #value ~= 28 then return value, plans end
local high, low, rest, age = parse('>I3I4I3I5', value)
if high < 6291456 or high >= 10485760 or rest > 255 then return value, plans end
local plan, place = string.sub(value, 16), 0
for at = 1, #plans, 13 do
if string.sub(plans, at, at + 12) == plan then place = (at + 12) / 13 end
end
if place == 0 then
if #plans > 51 then return value, plans end
plans = plans .. plan
place = #plans / 13
end
local compact = pack('>I3I4I5B', high, low, age, place)
if rest > 0 then compact = compact .. string.char(rest) end
return compact, plans
end
return expanded, compacted
elseif file == 'sweep' then
local expanded, extra = ...
local split = make 'block-value'
local state_until = make 'state-until'
return function(key)
local all = call('HRANDFIELD', key, 128, 'WITHVALUES')
local head = call('HGET', key, '')
for place = 1, #all, 2 do
local value = expanded(all[place + 1], head)
local ends = split(value)
if all[place] ~= '' and (state_until(value) or 0) + extra <= now and ends + extra <= now then call('HDEL', key, all[place]) end
end
end
elseif file == 'block-value' then
local function split(value)
local ends, inner = 0, value
if #value >= 7 then
local high, low = parse('>I3I4', value)
if high >= 14680064 then ends, inner = (high - 14680064) * 4294967296 + low, string.sub(value, 8) end
end
if string.byte(inner) == 1 then return 9000000000000000, '' end
return ends, inner
end
local function block_value(ends)
local low = ends % 4294967296
return pack('>I3I4', 14680064 + (ends - low) / 4294967296, low)
end
local function blocked(value, ends)
if ends + 60000000 <= now then return value end
return block_value(ends) .. value
end
return split, block_value, blocked
elseif file == 'state-until' then
local read_bucket = make 'bucket-value'
local flow, cut = make 'bucket-flow'
local _, _, leased_until = make('bucket-leases', flow, cut)
local read_window, _, window_until = make 'window-value'
local read_counter = make 'counter-value'
return function(value)
local zero, rest, seen, hold, n, m, burst, _, leases = read_bucket(value, 0)
if zero then return leased_until(zero, rest, seen, hold, n, m, burst, leases or {}) end
local finish, _, length, turn = read_window(value)
if finish then return window_until(finish, length, turn) end
local ended, current, _, window = read_counter(value)
if ended and current > 0 then return ended + window end
return ended
end
elseif file == 'bucket-value' then
local split, _, blocked = make 'block-value'
local function is_possible(rest, seen, hold, n, m, burst)
if rest >= n or seen > 9007199254740991 or hold > 3200000000000000 then return false end
if m < 1 or burst < 1 or m > 9007199254 then return false end
return n * (burst / 1000000 + 2) <= 9007199254740992 and burst / n * m <= 3200000000000000
end
local function read_bucket(value, ends)
local size = #value
local high, low, rest, age, seen, hold, n, m, burst
if size == 12 then
high, low, age, n, burst = parse('>I3I4I3BB', value)
rest, hold, m, burst = 0, 0, 1, burst * 1000000
elseif size == 28 then
high, low, rest, age, n, m, burst = parse('>I3I4I3I5I3I5I5', value)
hold = 0
elseif size >= 49 and (size - 49) % 28 == 0 then
high, low, rest, seen, hold, n, m, burst = parse('>I3I4I7I7I7I7I7I7', value)
end
if high and high >= 6291456 and high < 10485760 then
local zero, leases = (high - 8388608) * 4294967296 + low, nil
seen = seen or zero + age
if not is_possible(rest, seen, hold, n, m, burst) then return nil, nil, nil, nil, nil, nil, nil, 0 end
for at = 50, size, 28 do
leases = leases or {}
leases[#leases + 1] = { parse('>I7I7I7I7', value, at) }
end
return zero, rest, seen, hold, n, m, burst, ends, leases
end
local until_then, inner = split(value)
if until_then == 0 or ends > 0 then return nil, nil, nil, nil, nil, nil, nil, 0 end
if inner == '' then return nil, nil, nil, nil, nil, nil, nil, until_then end
return read_bucket(inner, until_then)
end
local function bucket_value(zero, rest, seen, hold, n, m, burst, ends, leases)
local low, age = zero % 4294967296, seen - zero
local high = 8388608 + (zero - low) / 4294967296
local value
if hold > 0 or leases or age < 0 or age >= 1099511627776 or n >= 16777216 or burst >= 1099511627776 then
value = pack('>I3I4I7I7I7I7I7I7', high, low, rest, seen, hold, n, m, burst)
for _, lease in ipairs(leases or {}) do value = value .. pack('>I7I7I7I7', lease[1], lease[2], lease[3], lease[4]) end
elseif m == 1 and rest == 0 and age < 16777216 and n < 256 and burst < 256000000 and burst % 1000000 == 0 then
value = pack('>I3I4I3BB', high, low, age, n, burst / 1000000)
else
value = pack('>I3I4I3I5I3I5I5', high, low, rest, age, n, m, burst)
end
if ends > 0 then return blocked(value, ends) end
return value
end
return read_bucket, bucket_value
elseif file == 'bucket-flow' then
local function flow(n, m, micro, from)
local token = m * 1000000
local token_rest, micro_rest = token % n, m % n
local parts = micro % 1000000
local tokens = (micro - parts) / 1000000
local sum = from + tokens * token_rest + parts * micro_rest
local left = sum % n
return tokens * ((token - token_rest) / n) + parts * ((m - micro_rest) / n) + (sum - left) / n, left
end
local function pieces(n, m, unit, from, span)
local count = 0
if span <= 0 then return count end
local guess = (span - from / n) / (m * unit / n) * (1 - 2 ^ -50)
if guess > 0 then count = guess - guess % 1 end
while true do
local micros, left = flow(n, m, (count + 1) * unit, from)
if micros > span or (micros == span and left > 0) then return count end
count = count + 1
end
end
local function cut(zero, rest, n, m, micro, time)
if micro < 0 then micro = 0 end
local span, left = flow(n, m, micro, 0)
local low, low_rest = time - span, 0
if left > 0 then low, low_rest = low - 1, n - left end
if zero > low or (zero == low and rest >= low_rest) then return zero, rest end
return low, low_rest
end
local function level_of(zero, rest, n, m, time)
local tokens = pieces(n, m, 1000000, rest, time - zero)
local micros, left = flow(n, m, tokens * 1000000, rest)
zero, rest = zero + micros, left
local parts = pieces(n, m, 1, rest, time - zero)
return tokens * 1000000 + parts, zero, rest, parts
end
local function owed_span(n, m, tokens)
local token = m * 1000000
local rest = token % n
local half = rest % 131072
local one = tokens * ((rest - half) / 131072)
local first = one % n
local carried = first * 131072 + tokens * half
local left = carried % n
return tokens * ((token - rest) / n) + (one - first) / n * 131072 + (carried - left) / n, left
end
local function latest_zero(n, m, burst, time)
return math.min(time + 3155760000000000, 9007199254740990 - (flow(n, m, burst, 0)))
end
return flow, cut, level_of, owed_span, latest_zero
elseif file == 'bucket-leases' then
local flow, cut = ...
local function out_on(leases)
local out = 0
for _, lease in ipairs(leases) do out = out + lease[3] end
return out
end
local function settle(zero, rest, n, m, burst, leases, time)
local out, left = out_on(leases), {}
for _, lease in ipairs(leases) do
if lease[4] <= time and #left == 0 then
zero, rest = cut(zero, rest, n, m, burst - out, lease[4])
out = out - lease[3]
else
left[#left + 1] = lease
end
end
if #left == 0 then return zero, rest, nil end
zero, rest = cut(zero, rest, n, m, burst - out, time)
return zero, rest, left
end
local function leased_until(zero, rest, seen, hold, n, m, burst, leases)
local out = out_on(leases)
for _, lease in ipairs(leases) do
zero, rest = cut(zero, rest, n, m, burst - out, lease[4])
out = out - lease[3]
end
local micros, left = flow(n, m, burst, rest)
local expires = zero + micros
if left > 0 then expires = expires + 1 end
if hold > 0 and seen + hold > expires then expires = seen + hold end
return expires
end
return out_on, settle, leased_until
elseif file == 'window-value' then
local split, _, blocked = make 'block-value'
local function read_window(value)
local ends, inner = 0, value
if #value ~= 21 then ends, inner = split(value) end
if #inner == 21 then
local high, low, count, turn, window = parse('>I3I4I7BI6', inner)
window = turn % 16 * 281474976710656 + window
if high >= 10485760 and high < 12582912 and window > 0 then
return (high - 10485760) * 4294967296 + low, count, window, math.floor(turn / 16), ends
end
end
if inner == value then ends, inner = split(value) end
return nil, nil, nil, nil, inner == '' and ends or 0
end
local function window_value(finish, count, window, turn, ends)
local low, short = finish % 4294967296, window % 281474976710656
local top = turn * 16 + (window - short) / 281474976710656
local value = pack('>I3I4I7BI6', 10485760 + (finish - low) / 4294967296, low, count, top, short)
if ends > 0 then return blocked(value, ends) end
return value
end
local function window_until(finish, window, turn)
if turn > 2 then return finish + window end
return finish + math.ceil(window / (turn == 2 and 4 or turn == 1 and 16 or 64))
end
return read_window, window_value, window_until
elseif file == 'counter-value' then
local split, _, blocked = make 'block-value'
local function read_counter(value)
local ends, inner = 0, value
if #value ~= 28 then ends, inner = split(value) end
if #inner == 28 then
local high, low, current, previous, absent, window = parse('>I3I4I7I7BI6', inner)
window = absent % 16 * 281474976710656 + window
if high >= 12582912 and high < 14680064 and window > 0 then
return (high - 12582912) * 4294967296 + low, current, previous, window, math.floor(absent / 16), ends
end
end
if inner == value then ends, inner = split(value) end
return nil, nil, nil, nil, nil, inner == '' and ends or 0
end
local function counter_value(finish, current, previous, window, absent, ends)
local low, short = finish % 4294967296, window % 281474976710656
local top = absent * 16 + (window - short) / 281474976710656
local value = pack('>I3I4I7I7BI6', 12582912 + (finish - low) / 4294967296, low, current, previous, top, short)
if ends > 0 then return blocked(value, ends) end
return value
end
return read_counter, counter_value
elseif file == 'log-value' then
local put, keep = ...
local split = make 'block-value'
local HEAD, ENTRY, PAGE, TURN = 47, 14, 64, 4503599627370496
local function new_log(state, ends)
return { state = state, size = 0, skip = 0, base = 0, at = 0, sum = 0, window = 0, hold = 0, ends = ends, stored = 0, anew = true }
end
local function open_log(state)
local key, log = KEYS[state], new_log(state, 0)
local value = redis.pcall('GETRANGE', key, 0, HEAD + PAGE * ENTRY - 1)
if type(value) ~= 'string' then return log end
local length = #value
if length == HEAD + PAGE * ENTRY then length = call('STRLEN', key) end
if length < HEAD or string.byte(value) ~= 2 or (length - HEAD) % ENTRY > 0 then
local ends, inner = split(value)
if inner == '' then log.ends = ends end
return log
end
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
page = call('GETRANGE', KEYS[log.state], from, from + PAGE * ENTRY - 1)
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
local function charge_log(log, charge)
local from = charge.from
log.dirty, log.there, log.window, log.hold = true, true, charge.window, charge.hold
if from == log.size then
log.anew, log.stored, log.size, log.skip, log.base, log.at, log.sum = true, 0, 1, 0, 0, charge.time, charge.cost
return
end
if from > log.skip then
local _, base = entry(log, from - 1)
log.base, log.skip = base, from
end
if not charge.merges then
log.old_at, log.old_sum, log.size = log.at, log.sum, log.size + 1
end
log.at, log.sum = charge.time, (log.sum + charge.cost) % TURN
end
local function log_head(log, skip)
return pack('>BI7I7I7I7I7I7I4', 2, log.ends, log.window, log.hold, log.base, log.at, log.sum, skip)
end
local function log_expires(log)
local expires = log.at + log.window
if log.hold > log.window then expires = log.at + log.hold end
if log.ends > expires then expires = log.ends end
return expires
end
local function save_log(log)
local expires = log_expires(log)
local more = log.size - 1 > log.stored
local added = ''
if more and log.skip <= log.stored then added = pack('>I7I7', log.old_at, log.old_sum) end
local skip = log.skip
local whole = log.anew or log.stored <= PAGE or skip > log.size - skip
if whole then skip = 0 end
local head = log_head(log, skip)
if whole then
local body = ''
if not log.anew then
if log.stored <= PAGE then
body = string.sub(log.pages[0], log.skip * ENTRY + 1)
else
body = call('GETRANGE', KEYS[log.state], HEAD + log.skip * ENTRY, -1)
end
end
return put(log.state, head .. body .. added, expires)
end
call('SETRANGE', KEYS[log.state], 0, head)
if more then call('APPEND', KEYS[log.state], added) end
keep(log.state, expires)
end
return {
HEAD = HEAD,
ENTRY = ENTRY,
TURN = TURN,
new = new_log,
open = open_log,
entry = entry,
through = through,
first_after = first_after,
first_through = first_through,
charge = charge_log,
head = log_head,
expires = log_expires,
save = save_log,
}
end
end
local read, put, keep, remove, _, member_of = make 'state'
local split, block_value = make 'block-value'
local state_until = make 'state-until'
local function what_stays(value)
local read_bucket, bucket_value = make 'bucket-value'
local flow, cut = make 'bucket-flow'
local out_on, settle, leased_until = make('bucket-leases', flow, cut)
local zero, rest, seen, hold, n, m, burst, _, leases = read_bucket(value, 0)
if not leases then return nil, '' end
local time = now
if seen > now then time = seen end
zero, rest, leases = settle(zero, rest, n, m, burst, leases, time)
if not leases then return nil, '' end
zero, rest = cut(-math.huge, 0, n, m, burst - out_on(leases), time)
value = bucket_value(zero, rest, time, hold, n, m, burst, 0, leases)
return leased_until(zero, rest, time, hold, n, m, burst, leases), value
end
local length = asked[2]
local newer = {}
local function block_log(state)
local logs = make('log-value', put, keep)
local log = logs.open(state)
if length < 0 or not log.there then return log.ends, '' end
log.ends = 0
if length > 0 then log.ends = now + length end
call('SETRANGE', KEYS[state], 0, logs.head(log, log.skip))
keep(state, logs.expires(log))
end
for state = 1, #KEYS do
local member, value = member_of and member_of(state), nil
if member then value = read(state) else value = redis.pcall('GETRANGE', KEYS[state], 0, 2047) end
if type(value) ~= 'string' then value = '' end
local ends, inner, expires = 0, value, nil
if string.byte(value) == 2 then
ends, inner = block_log(state)
elseif value ~= '' then
ends, inner = split(value)
expires = state_until(value)
if ends == 9000000000000000 then
ends = 0
if length >= 0 then newer[#newer + 1], inner = state, nil end
elseif not expires and inner ~= '' then
ends, inner = 0, ''
end
end
if inner then
if length < 0 then
expires, inner = what_stays(inner)
elseif length > 0 then
ends = now + length
else
ends = 0
end
if ends > 0 then
if inner ~= '' then
put(state, block_value(ends) .. inner, math.max(ends, expires))
elseif ends > now then
put(state, block_value(ends), ends)
elseif member then
call('HSET', KEYS[state], member, block_value(ends))
else
call('SET', KEYS[state], block_value(ends), 'KEEPTTL')
end
elseif inner ~= '' then
put(state, inner, expires)
elseif value ~= '' or length < 0 then
remove(state)
end
end
end
return newer
`,
}

export const bucketsProgram: Program = {
  sha1: '47c95275a92d375c636cc795030b122d03bcc53c',
  source: `local call, KEYS, ARGV = redis.call, KEYS, ARGV
local pack, parse, format = struct.pack, struct.unpack, string.format
local clock = call('TIME')
local now = clock[1] * 1000000 + clock[2]
local made
local function rare(now, pack, parse)
local function make(file, ...)
if file == 'bucket' then
local read, value = make 'bucket-value'
local flow, cut, level_of, owed_span, latest_zero = make 'bucket-flow'
local out_on, settle, expires = make('bucket-leases', flow, cut)
local adopt = make('bucket-adopt', flow, cut, level_of, owed_span, latest_zero, out_on, settle)
return {
read = read,
value = value,
flow = flow,
cut = cut,
level_of = level_of,
latest_zero = latest_zero,
out_on = out_on,
settle = settle,
expires = expires,
adopt = adopt,
}
elseif file == 'bucket-value' then
local split, _, blocked = make 'block-value'
local function is_possible(rest, seen, hold, n, m, burst)
if rest >= n or seen > 9007199254740991 or hold > 3200000000000000 then return false end
if m < 1 or burst < 1 or m > 9007199254 then return false end
return n * (burst / 1000000 + 2) <= 9007199254740992 and burst / n * m <= 3200000000000000
end
local function read_bucket(value, ends)
local size = #value
local high, low, rest, age, seen, hold, n, m, burst
if size == 12 then
high, low, age, n, burst = parse('>I3I4I3BB', value)
rest, hold, m, burst = 0, 0, 1, burst * 1000000
elseif size == 28 then
high, low, rest, age, n, m, burst = parse('>I3I4I3I5I3I5I5', value)
hold = 0
elseif size >= 49 and (size - 49) % 28 == 0 then
high, low, rest, seen, hold, n, m, burst = parse('>I3I4I7I7I7I7I7I7', value)
end
if high and high >= 6291456 and high < 10485760 then
local zero, leases = (high - 8388608) * 4294967296 + low, nil
seen = seen or zero + age
if not is_possible(rest, seen, hold, n, m, burst) then return nil, nil, nil, nil, nil, nil, nil, 0 end
for at = 50, size, 28 do
leases = leases or {}
leases[#leases + 1] = { parse('>I7I7I7I7', value, at) }
end
return zero, rest, seen, hold, n, m, burst, ends, leases
end
local until_then, inner = split(value)
if until_then == 0 or ends > 0 then return nil, nil, nil, nil, nil, nil, nil, 0 end
if inner == '' then return nil, nil, nil, nil, nil, nil, nil, until_then end
return read_bucket(inner, until_then)
end
local function bucket_value(zero, rest, seen, hold, n, m, burst, ends, leases)
local low, age = zero % 4294967296, seen - zero
local high = 8388608 + (zero - low) / 4294967296
local value
if hold > 0 or leases or age < 0 or age >= 1099511627776 or n >= 16777216 or burst >= 1099511627776 then
value = pack('>I3I4I7I7I7I7I7I7', high, low, rest, seen, hold, n, m, burst)
for _, lease in ipairs(leases or {}) do value = value .. pack('>I7I7I7I7', lease[1], lease[2], lease[3], lease[4]) end
elseif m == 1 and rest == 0 and age < 16777216 and n < 256 and burst < 256000000 and burst % 1000000 == 0 then
value = pack('>I3I4I3BB', high, low, age, n, burst / 1000000)
else
value = pack('>I3I4I3I5I3I5I5', high, low, rest, age, n, m, burst)
end
if ends > 0 then return blocked(value, ends) end
return value
end
return read_bucket, bucket_value
elseif file == 'block-value' then
local function split(value)
local ends, inner = 0, value
if #value >= 7 then
local high, low = parse('>I3I4', value)
if high >= 14680064 then ends, inner = (high - 14680064) * 4294967296 + low, string.sub(value, 8) end
end
if string.byte(inner) == 1 then return 9000000000000000, '' end
return ends, inner
end
local function block_value(ends)
local low = ends % 4294967296
return pack('>I3I4', 14680064 + (ends - low) / 4294967296, low)
end
local function blocked(value, ends)
if ends + 60000000 <= now then return value end
return block_value(ends) .. value
end
return split, block_value, blocked
elseif file == 'bucket-flow' then
local function flow(n, m, micro, from)
local token = m * 1000000
local token_rest, micro_rest = token % n, m % n
local parts = micro % 1000000
local tokens = (micro - parts) / 1000000
local sum = from + tokens * token_rest + parts * micro_rest
local left = sum % n
return tokens * ((token - token_rest) / n) + parts * ((m - micro_rest) / n) + (sum - left) / n, left
end
local function pieces(n, m, unit, from, span)
local count = 0
if span <= 0 then return count end
local guess = (span - from / n) / (m * unit / n) * (1 - 2 ^ -50)
if guess > 0 then count = guess - guess % 1 end
while true do
local micros, left = flow(n, m, (count + 1) * unit, from)
if micros > span or (micros == span and left > 0) then return count end
count = count + 1
end
end
local function cut(zero, rest, n, m, micro, time)
if micro < 0 then micro = 0 end
local span, left = flow(n, m, micro, 0)
local low, low_rest = time - span, 0
if left > 0 then low, low_rest = low - 1, n - left end
if zero > low or (zero == low and rest >= low_rest) then return zero, rest end
return low, low_rest
end
local function level_of(zero, rest, n, m, time)
local tokens = pieces(n, m, 1000000, rest, time - zero)
local micros, left = flow(n, m, tokens * 1000000, rest)
zero, rest = zero + micros, left
local parts = pieces(n, m, 1, rest, time - zero)
return tokens * 1000000 + parts, zero, rest, parts
end
local function owed_span(n, m, tokens)
local token = m * 1000000
local rest = token % n
local half = rest % 131072
local one = tokens * ((rest - half) / 131072)
local first = one % n
local carried = first * 131072 + tokens * half
local left = carried % n
return tokens * ((token - rest) / n) + (one - first) / n * 131072 + (carried - left) / n, left
end
local function latest_zero(n, m, burst, time)
return math.min(time + 3155760000000000, 9007199254740990 - (flow(n, m, burst, 0)))
end
return flow, cut, level_of, owed_span, latest_zero
elseif file == 'bucket-leases' then
local flow, cut = ...
local function out_on(leases)
local out = 0
for _, lease in ipairs(leases) do out = out + lease[3] end
return out
end
local function settle(zero, rest, n, m, burst, leases, time)
local out, left = out_on(leases), {}
for _, lease in ipairs(leases) do
if lease[4] <= time and #left == 0 then
zero, rest = cut(zero, rest, n, m, burst - out, lease[4])
out = out - lease[3]
else
left[#left + 1] = lease
end
end
if #left == 0 then return zero, rest, nil end
zero, rest = cut(zero, rest, n, m, burst - out, time)
return zero, rest, left
end
local function leased_until(zero, rest, seen, hold, n, m, burst, leases)
local out = out_on(leases)
for _, lease in ipairs(leases) do
zero, rest = cut(zero, rest, n, m, burst - out, lease[4])
out = out - lease[3]
end
local micros, left = flow(n, m, burst, rest)
local expires = zero + micros
if left > 0 then expires = expires + 1 end
if hold > 0 and seen + hold > expires then expires = seen + hold end
return expires
end
return out_on, settle, leased_until
elseif file == 'bucket-adopt' then
local flow, cut, level_of, owed_span, latest_zero, out_on, settle = ...
local function adopt_bucket(zero, rest, seen, hold, old_n, old_m, old_burst, n, m, burst, leases)
local time = now
if seen > now then time = seen end
if leases then
zero, rest, leases = settle(zero, rest, old_n, old_m, old_burst, leases, time)
end
local full, full_rest = flow(old_n, old_m, old_burst, 0)
local fresh, fresh_rest = flow(old_n, old_m, old_burst, rest)
local ends = zero + fresh
if fresh_rest > 0 then ends = ends + 1 end
if hold > 0 and seen + hold > ends then ends = seen + hold end
if ends <= time then return nil end
local longest = full
if full_rest > 0 then longest = full + 1 end
zero, rest = cut(zero, rest, old_n, old_m, old_burst, time)
local debt = 0
if zero > time or (zero == time and rest > 0) then
local token = old_m * 1000000
local token_rest = token % old_n
debt = math.min(9007199256, math.floor((zero - time + 1) / ((token - token_rest) / old_n + token_rest / old_n)) + 1)
local put, put_rest = owed_span(old_n, old_m, debt)
zero, rest = zero - put, rest - put_rest
if rest < 0 then zero, rest = zero - 1, rest + old_n end
end
local micro, parts
micro, zero, rest, parts = level_of(zero, rest, old_n, old_m, time)
local part = (time - zero) * old_n - rest - parts * old_m
local extra = 0
if debt == 0 and micro >= burst then
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
zero, rest = time - span - (behind + (-behind) % n) / n, (-behind) % n
if debt > 0 then
local owed, owed_rest = owed_span(n, m, debt)
zero, rest = zero + owed, rest + owed_rest
if rest >= n then zero, rest = zero + 1, rest - n end
end
local latest = latest_zero(n, m, burst, time)
if zero > latest or (zero == latest and rest > 0) then zero, rest = latest, 0 end
if leases then
zero, rest = cut(zero, rest, n, m, burst - out_on(leases), time)
end
return zero, rest, time, longest, leases
end
return adopt_bucket
end
end
return make 'bucket'
end
local n, m, burst = ARGV[1] + 0, ARGV[2] + 0, ARGV[3] + 0
local parts = ARGV[4] * m
local cost_rest = parts % n
local cost = (parts - cost_rest) / n
parts = burst * m
local empty_rest = -parts % n
local empty = (parts + empty_rest) / n
local states, counted, extra = #KEYS, #ARGV > 5, ARGV[5] + 0
local values = {}
if states == 1 then
values = call('MGET', KEYS[1])
elseif states > 1 then
values = call('MGET', unpack(KEYS))
end
local heads, short, times = {}, states <= 1000, 1
for state = 1, states do
local value = values[state]
if counted then times = ARGV[5 + state] + 0 end
local time, ends, passed = now, 0, 0
local zero, rest, seen, hold, leases, converted, written, expires
if value then
local size = #value
local high, low, age, old_n, old_m, old_burst
if size == 12 then
high, low, age, old_n, old_burst = parse('>I3I4I3BB', value)
rest, hold, old_m, old_burst = 0, 0, 1, old_burst * 1000000
elseif size == 28 then
high, low, rest, age, old_n, old_m, old_burst = parse('>I3I4I3I5I3I5I5', value)
hold = 0
end
local same = old_n == n and old_m == m and old_burst == burst
if same and high >= 6291456 and high < 10485504 and rest < n then
zero = (high - 8388608) * 4294967296 + low
seen = zero + age
else
made = made or rare(now, pack, parse)
zero, rest, seen, hold, old_n, old_m, old_burst, ends, leases = made.read(value, 0)
end
if zero then
if old_n ~= n or old_m ~= m or old_burst ~= burst then
zero, rest, seen, hold, leases = made.adopt(zero, rest, seen, hold, old_n, old_m, old_burst, n, m, burst, leases)
converted = zero
end
if zero and seen > now then time = seen end
if leases then
zero, rest, leases = made.settle(zero, rest, n, m, burst, leases, time)
end
end
end
local oldest = time - empty
if not zero then
zero, rest, hold = oldest, empty_rest, 0
elseif zero < oldest or (zero == oldest and rest <= empty_rest) then
zero, rest = oldest, empty_rest
if hold > 0 and time >= seen + hold then hold = 0 end
end
local open = times
if ends > now then open = 0 end
while passed < open do
local moved, left = zero + cost, rest + cost_rest
if left >= n then moved, left = moved + 1, left - n end
if moved > time or (moved == time and left > 0) then break end
zero, rest, passed = moved, left, passed + 1
end
if passed > 0 or converted then
expires = zero + empty
if rest > empty_rest then expires = expires + 1 end
local age, low = time - zero, zero % 4294967296
if hold > 0 or ends > 0 or leases or age < 0 or age >= 1099511627776 or n >= 16777216 or burst >= 1099511627776 then
made = made or rare(now, pack, parse)
written = made.value(zero, rest, time, hold, n, m, burst, ends, leases)
if leases then
expires = made.expires(zero, rest, time, hold, n, m, burst, leases)
elseif hold > 0 and time + hold > expires then
expires = time + hold
end
if ends > expires then expires = ends end
elseif m == 1 and rest == 0 and age < 16777216 and n < 256 and burst < 256000000 and burst % 1000000 == 0 then
written = pack('>I3I4I3BB', 8388608 + (zero - low) / 4294967296, low, age, n, burst / 1000000)
else
written = pack('>I3I4I3I5I3I5I5', 8388608 + (zero - low) / 4294967296, low, rest, age, n, m, burst)
end
end
if written then call('SET', KEYS[state], written, 'PXAT', format('%d', (expires + extra) / 1000)) end
local length = 0
if value then length = #value end
if length > 255 or passed > 255 then short = false end
heads[2 * state - 1], heads[2 * state] = length, passed
if not value then values[state] = '' end
end
local head
if short then
head = string.char(1, unpack(heads))
else
for state = 1, states do heads[state] = pack('>I4I4', heads[2 * state - 1], heads[2 * state]) end
head = string.char(4) .. table.concat(heads, '', 1, states)
end
return head .. table.concat(values) .. pack('>I7', now)
`,
}

export const consumeProgram: Program = {
  sha1: '8798fdba2b18090260243ff0f33ae9b33a057900',
  source: `local call, KEYS = redis.call, KEYS
local pack, parse = struct.pack, struct.unpack
local asked = cjson.decode(ARGV[1])
local given = asked[1]
local clock = given == 0 and call('TIME')
local now = clock and clock[1] * 1000000 + clock[2] or given
local function make(file, ...)
if file == 'window' then
local read_window, window_value, window_until = make 'window-value'
local adopt_window, begun, part_of, turn_of = make('window-adopt', window_until)
return function(value, row, times)
local cost, limit, ramp = asked[row + 1], asked[row + 2], asked[row + 5]
local ends, passed = 0, 0
local finish, count, span, turn, converted
if value then
finish, count, span, turn, ends = read_window(value)
if finish then finish, count, span, turn, converted = adopt_window(finish, count, span, turn, row) end
end
if not (finish and now < finish) then
finish, span, turn = begun(finish, span, turn, row)
count = 0
end
local start, base, used, long, who = part_of(finish, count, span, turn, row)
local elapsed, most = now - start, limit
if ramp > 0 and elapsed < ramp then
if elapsed < 0 then elapsed = 0 end
local grown = math.floor(elapsed * asked[row + 6] / asked[row + 7])
if grown < 1000000 then grown = 1000000 end
if grown < most then most = grown end
end
if ends > now then times = 0 end
while passed < times and used + cost <= most do
used, passed = used + cost, passed + 1
end
if passed > 0 then
count, span = base + used, long
turn = turn_of(who, count, limit)
elseif not converted then
return 0
end
local expires = window_until(finish, span, turn)
if ends > expires then expires = ends end
return passed, window_value(finish, count, span, turn, ends), expires
end
elseif file == 'window-value' then
local split, _, blocked = make 'block-value'
local function read_window(value)
local ends, inner = 0, value
if #value ~= 21 then ends, inner = split(value) end
if #inner == 21 then
local high, low, count, turn, window = parse('>I3I4I7BI6', inner)
window = turn % 16 * 281474976710656 + window
if high >= 10485760 and high < 12582912 and window > 0 then
return (high - 10485760) * 4294967296 + low, count, window, math.floor(turn / 16), ends
end
end
if inner == value then ends, inner = split(value) end
return nil, nil, nil, nil, inner == '' and ends or 0
end
local function window_value(finish, count, window, turn, ends)
local low, short = finish % 4294967296, window % 281474976710656
local top = turn * 16 + (window - short) / 281474976710656
local value = pack('>I3I4I7BI6', 10485760 + (finish - low) / 4294967296, low, count, top, short)
if ends > 0 then return blocked(value, ends) end
return value
end
local function window_until(finish, window, turn)
if turn > 2 then return finish + window end
return finish + math.ceil(window / (turn == 2 and 4 or turn == 1 and 16 or 64))
end
return read_window, window_value, window_until
elseif file == 'block-value' then
local function split(value)
local ends, inner = 0, value
if #value >= 7 then
local high, low = parse('>I3I4', value)
if high >= 14680064 then ends, inner = (high - 14680064) * 4294967296 + low, string.sub(value, 8) end
end
if string.byte(inner) == 1 then return 9000000000000000, '' end
return ends, inner
end
local function block_value(ends)
local low = ends % 4294967296
return pack('>I3I4', 14680064 + (ends - low) / 4294967296, low)
end
local function blocked(value, ends)
if ends + 60000000 <= now then return value end
return block_value(ends) .. value
end
return split, block_value, blocked
elseif file == 'window-adopt' then
local window_until = ...
local function fresh_end(row, time)
local length = asked[row + 3]
if asked[row + 4] == 1 then return time + length end
local shifted = time - asked[row + 8]
return shifted - shifted % length + length + asked[row + 8]
end
local function adopt_window(finish, count, window, turn, row)
local length = asked[row + 3]
if window == length and turn < 5 then return finish, count, window, turn, false end
if now >= finish then
if now >= window_until(finish, window, turn) then return nil end
return finish, count, window, turn, false
end
if turn == 6 then
if length <= window then return finish, count, window, turn, false end
return finish, 9007199254740991, length, 4, true
end
if window == length then return finish, count, window, 4, true end
if length < window and turn >= 4 then return finish, count, window, turn, false end
local last = fresh_end(row, now)
if length > window and asked[row + 4] == 1 then
last = finish - window + length
elseif finish > last then
last = finish
end
return last, count, math.max(window, length), 4, true
end
local function begun(finish, window, turn, row)
local length, own = asked[row + 3], fresh_end(row, now)
if not finish or now >= window_until(finish, window, turn) then return own, length, 0 end
if length > window then return math.max(own, finish + window), length, 4 end
if length < window and turn < 5 then return finish + window, window, 5 end
if asked[row + 4] ~= 1 and own - length < finish then own = own + length end
return own, length, 0
end
local function part_of(finish, count, window, turn, row)
local limit, length, part = asked[row + 2], asked[row + 3], 0
if turn >= 5 and length < window then
part = math.max(0, math.min(math.floor((now - finish + window) / length), math.floor(window / length) - 1))
end
local start, base = finish - window + part * length, part * limit
local used = math.max(0, count - base)
if turn == 6 or turn == 5 and base > 9007199254740991 - 2 * limit then return start, 0, used, finish - start, 6 end
return start, base, used, window, turn
end
local function turn_of(turn, count, limit)
if turn >= 4 then return turn end
if count * 4 > limit then return 3 end
return count * 16 > limit and 2 or count * 64 > limit and 1 or 0
end
return adopt_window, begun, part_of, turn_of
elseif file == 'counter' then
local read_counter, counter_value = make 'counter-value'
local adopt_counter, rolled, share = make 'counter-adopt'
return function(value, row, times)
local cost, limit, length = asked[row + 1], asked[row + 2], asked[row + 3]
local ends, passed, previous, span, absent = 0, 0, 0, length, 0
local finish, current, converted
if value then
finish, current, previous, span, absent, ends = read_counter(value)
if finish then finish, current, previous, span, absent, converted = adopt_counter(finish, current, previous, span, absent, row) end
end
if not (finish and now < finish) then
finish, current, previous = rolled(finish, current, previous, length)
span, absent = length, 0
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
return passed, counter_value(finish, current, previous, span, absent, ends), expires
end
elseif file == 'counter-value' then
local split, _, blocked = make 'block-value'
local function read_counter(value)
local ends, inner = 0, value
if #value ~= 28 then ends, inner = split(value) end
if #inner == 28 then
local high, low, current, previous, absent, window = parse('>I3I4I7I7BI6', inner)
window = absent % 16 * 281474976710656 + window
if high >= 12582912 and high < 14680064 and window > 0 then
return (high - 12582912) * 4294967296 + low, current, previous, window, math.floor(absent / 16), ends
end
end
if inner == value then ends, inner = split(value) end
return nil, nil, nil, nil, nil, inner == '' and ends or 0
end
local function counter_value(finish, current, previous, window, absent, ends)
local low, short = finish % 4294967296, window % 281474976710656
local top = absent * 16 + (window - short) / 281474976710656
local value = pack('>I3I4I7I7BI6', 12582912 + (finish - low) / 4294967296, low, current, previous, top, short)
if ends > 0 then return blocked(value, ends) end
return value
end
return read_counter, counter_value
elseif file == 'counter-adopt' then
local function rolled(finish, current, previous, length)
if finish and now < finish then return finish, current, previous end
if not finish or now >= finish + length then return now - now % length + length, 0, 0 end
return finish + length, 0, current
end
local function adopt_counter(finish, current, previous, window, absent, row)
local length = asked[row + 3]
if window == length then
if absent == 0 or now >= finish then return finish, current, previous, window, absent, false end
return finish, current, previous, window, 0, true
end
if window > length and now < finish then return finish, current, previous, window, absent, false end
finish, current, previous = rolled(finish, current, previous, window)
if window > length and absent == 0 then
if previous == 0 then return nil end
return finish, current, previous, window, 1, true
end
finish = finish - window + length
if now >= finish or current + previous == 0 then return nil end
return finish, current, previous, length, 0, true
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
return adopt_counter, rolled, share
elseif file == 'bucket' then
local read, value = make 'bucket-value'
local flow, cut, level_of, owed_span, latest_zero = make 'bucket-flow'
local out_on, settle, expires = make('bucket-leases', flow, cut)
local adopt = make('bucket-adopt', flow, cut, level_of, owed_span, latest_zero, out_on, settle)
return {
read = read,
value = value,
flow = flow,
cut = cut,
level_of = level_of,
latest_zero = latest_zero,
out_on = out_on,
settle = settle,
expires = expires,
adopt = adopt,
}
elseif file == 'bucket-value' then
local split, _, blocked = make 'block-value'
local function is_possible(rest, seen, hold, n, m, burst)
if rest >= n or seen > 9007199254740991 or hold > 3200000000000000 then return false end
if m < 1 or burst < 1 or m > 9007199254 then return false end
return n * (burst / 1000000 + 2) <= 9007199254740992 and burst / n * m <= 3200000000000000
end
local function read_bucket(value, ends)
local size = #value
local high, low, rest, age, seen, hold, n, m, burst
if size == 12 then
high, low, age, n, burst = parse('>I3I4I3BB', value)
rest, hold, m, burst = 0, 0, 1, burst * 1000000
elseif size == 28 then
high, low, rest, age, n, m, burst = parse('>I3I4I3I5I3I5I5', value)
hold = 0
elseif size >= 49 and (size - 49) % 28 == 0 then
high, low, rest, seen, hold, n, m, burst = parse('>I3I4I7I7I7I7I7I7', value)
end
if high and high >= 6291456 and high < 10485760 then
local zero, leases = (high - 8388608) * 4294967296 + low, nil
seen = seen or zero + age
if not is_possible(rest, seen, hold, n, m, burst) then return nil, nil, nil, nil, nil, nil, nil, 0 end
for at = 50, size, 28 do
leases = leases or {}
leases[#leases + 1] = { parse('>I7I7I7I7', value, at) }
end
return zero, rest, seen, hold, n, m, burst, ends, leases
end
local until_then, inner = split(value)
if until_then == 0 or ends > 0 then return nil, nil, nil, nil, nil, nil, nil, 0 end
if inner == '' then return nil, nil, nil, nil, nil, nil, nil, until_then end
return read_bucket(inner, until_then)
end
local function bucket_value(zero, rest, seen, hold, n, m, burst, ends, leases)
local low, age = zero % 4294967296, seen - zero
local high = 8388608 + (zero - low) / 4294967296
local value
if hold > 0 or leases or age < 0 or age >= 1099511627776 or n >= 16777216 or burst >= 1099511627776 then
value = pack('>I3I4I7I7I7I7I7I7', high, low, rest, seen, hold, n, m, burst)
for _, lease in ipairs(leases or {}) do value = value .. pack('>I7I7I7I7', lease[1], lease[2], lease[3], lease[4]) end
elseif m == 1 and rest == 0 and age < 16777216 and n < 256 and burst < 256000000 and burst % 1000000 == 0 then
value = pack('>I3I4I3BB', high, low, age, n, burst / 1000000)
else
value = pack('>I3I4I3I5I3I5I5', high, low, rest, age, n, m, burst)
end
if ends > 0 then return blocked(value, ends) end
return value
end
return read_bucket, bucket_value
elseif file == 'bucket-flow' then
local function flow(n, m, micro, from)
local token = m * 1000000
local token_rest, micro_rest = token % n, m % n
local parts = micro % 1000000
local tokens = (micro - parts) / 1000000
local sum = from + tokens * token_rest + parts * micro_rest
local left = sum % n
return tokens * ((token - token_rest) / n) + parts * ((m - micro_rest) / n) + (sum - left) / n, left
end
local function pieces(n, m, unit, from, span)
local count = 0
if span <= 0 then return count end
local guess = (span - from / n) / (m * unit / n) * (1 - 2 ^ -50)
if guess > 0 then count = guess - guess % 1 end
while true do
local micros, left = flow(n, m, (count + 1) * unit, from)
if micros > span or (micros == span and left > 0) then return count end
count = count + 1
end
end
local function cut(zero, rest, n, m, micro, time)
if micro < 0 then micro = 0 end
local span, left = flow(n, m, micro, 0)
local low, low_rest = time - span, 0
if left > 0 then low, low_rest = low - 1, n - left end
if zero > low or (zero == low and rest >= low_rest) then return zero, rest end
return low, low_rest
end
local function level_of(zero, rest, n, m, time)
local tokens = pieces(n, m, 1000000, rest, time - zero)
local micros, left = flow(n, m, tokens * 1000000, rest)
zero, rest = zero + micros, left
local parts = pieces(n, m, 1, rest, time - zero)
return tokens * 1000000 + parts, zero, rest, parts
end
local function owed_span(n, m, tokens)
local token = m * 1000000
local rest = token % n
local half = rest % 131072
local one = tokens * ((rest - half) / 131072)
local first = one % n
local carried = first * 131072 + tokens * half
local left = carried % n
return tokens * ((token - rest) / n) + (one - first) / n * 131072 + (carried - left) / n, left
end
local function latest_zero(n, m, burst, time)
return math.min(time + 3155760000000000, 9007199254740990 - (flow(n, m, burst, 0)))
end
return flow, cut, level_of, owed_span, latest_zero
elseif file == 'bucket-leases' then
local flow, cut = ...
local function out_on(leases)
local out = 0
for _, lease in ipairs(leases) do out = out + lease[3] end
return out
end
local function settle(zero, rest, n, m, burst, leases, time)
local out, left = out_on(leases), {}
for _, lease in ipairs(leases) do
if lease[4] <= time and #left == 0 then
zero, rest = cut(zero, rest, n, m, burst - out, lease[4])
out = out - lease[3]
else
left[#left + 1] = lease
end
end
if #left == 0 then return zero, rest, nil end
zero, rest = cut(zero, rest, n, m, burst - out, time)
return zero, rest, left
end
local function leased_until(zero, rest, seen, hold, n, m, burst, leases)
local out = out_on(leases)
for _, lease in ipairs(leases) do
zero, rest = cut(zero, rest, n, m, burst - out, lease[4])
out = out - lease[3]
end
local micros, left = flow(n, m, burst, rest)
local expires = zero + micros
if left > 0 then expires = expires + 1 end
if hold > 0 and seen + hold > expires then expires = seen + hold end
return expires
end
return out_on, settle, leased_until
elseif file == 'bucket-adopt' then
local flow, cut, level_of, owed_span, latest_zero, out_on, settle = ...
local function adopt_bucket(zero, rest, seen, hold, old_n, old_m, old_burst, n, m, burst, leases)
local time = now
if seen > now then time = seen end
if leases then
zero, rest, leases = settle(zero, rest, old_n, old_m, old_burst, leases, time)
end
local full, full_rest = flow(old_n, old_m, old_burst, 0)
local fresh, fresh_rest = flow(old_n, old_m, old_burst, rest)
local ends = zero + fresh
if fresh_rest > 0 then ends = ends + 1 end
if hold > 0 and seen + hold > ends then ends = seen + hold end
if ends <= time then return nil end
local longest = full
if full_rest > 0 then longest = full + 1 end
zero, rest = cut(zero, rest, old_n, old_m, old_burst, time)
local debt = 0
if zero > time or (zero == time and rest > 0) then
local token = old_m * 1000000
local token_rest = token % old_n
debt = math.min(9007199256, math.floor((zero - time + 1) / ((token - token_rest) / old_n + token_rest / old_n)) + 1)
local put, put_rest = owed_span(old_n, old_m, debt)
zero, rest = zero - put, rest - put_rest
if rest < 0 then zero, rest = zero - 1, rest + old_n end
end
local micro, parts
micro, zero, rest, parts = level_of(zero, rest, old_n, old_m, time)
local part = (time - zero) * old_n - rest - parts * old_m
local extra = 0
if debt == 0 and micro >= burst then
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
zero, rest = time - span - (behind + (-behind) % n) / n, (-behind) % n
if debt > 0 then
local owed, owed_rest = owed_span(n, m, debt)
zero, rest = zero + owed, rest + owed_rest
if rest >= n then zero, rest = zero + 1, rest - n end
end
local latest = latest_zero(n, m, burst, time)
if zero > latest or (zero == latest and rest > 0) then zero, rest = latest, 0 end
if leases then
zero, rest = cut(zero, rest, n, m, burst - out_on(leases), time)
end
return zero, rest, time, longest, leases
end
return adopt_bucket
elseif file == 'state' then
local read_string, put_string, keep, remove_string, extra, last_of = make 'strings'
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
if given == 0 and last * 1000 >= expires then
if #head == 6 + #plans then
added = call('HSET', key, member, compact)
else
added = call('HSET', key, member, compact, '', string.sub(head, 1, 6) .. plans)
end
else
local longer = expires + math.max(0, expires - now) / 4
added = call('HSET', key, member, compact, '', pack('>I6', math.max(last, math.floor(longer / 1000))) .. plans)
if given ~= 0 and head then
call('PEXPIREAT', key, last_of(longer), 'GT')
else
call('PEXPIREAT', key, last_of(longer))
end
end
if added > 0 and given == 0 and now % 16 == 0 then
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
elseif file == 'strings' then
local extra = (ARGV[3] or 0) + 0
local function read(state)
local value = redis.pcall('GET', KEYS[state])
return type(value) == 'string' and value
end
local function last_of(expires)
if given == 0 then return math.floor(expires / 1000) end
local time = call('TIME')
return time[1] * 1000 + math.ceil(math.max(0, expires - now) / 1000) + 60000
end
local function put(state, value, expires)
call('SET', KEYS[state], value, 'PXAT', last_of(expires + extra))
end
local function keep(state, expires)
call('PEXPIREAT', KEYS[state], last_of(expires + extra))
end
local function remove(state)
call('DEL', KEYS[state])
end
return read, put, keep, remove, extra, last_of
elseif file == 'packed-value' then
local function expanded(value, head)
local size = #value
if size ~= 13 and size ~= 14 then return value end
local high, low, age, place = parse('>I3I4I5B', value)
if high < 6291456 or high >= 10485760 or #head < 6 + 13 * place or place < 1 then return value end
local n, m, burst = parse('>I3I5I5', head, 13 * place - 6)
local rest = 0
if size == 14 then rest = string.byte(value, 14) end
return pack('>I3I4I3I5I3I5I5', high, low, rest, age, n, m, burst)
end
local function compacted(value, plans)
if #value ~= 28 then return value, plans end
local high, low, rest, age = parse('>I3I4I3I5', value)
if high < 6291456 or high >= 10485760 or rest > 255 then return value, plans end
local plan, place = string.sub(value, 16), 0
for at = 1, #plans, 13 do
if string.sub(plans, at, at + 12) == plan then place = (at + 12) / 13 end
end
if place == 0 then
if #plans > 51 then return value, plans end
plans = plans .. plan
place = #plans / 13
end
local compact = pack('>I3I4I5B', high, low, age, place)
if rest > 0 then compact = compact .. string.char(rest) end
return compact, plans
end
return expanded, compacted
elseif file == 'sweep' then
local expanded, extra = ...
local split = make 'block-value'
local state_until = make 'state-until'
return function(key)
local all = call('HRANDFIELD', key, 128, 'WITHVALUES')
local head = call('HGET', key, '')
for place = 1, #all, 2 do
local value = expanded(all[place + 1], head)
local ends = split(value)
if all[place] ~= '' and (state_until(value) or 0) + extra <= now and ends + extra <= now then call('HDEL', key, all[place]) end
end
end
elseif file == 'state-until' then
local read_bucket = make 'bucket-value'
local flow, cut = make 'bucket-flow'
local _, _, leased_until = make('bucket-leases', flow, cut)
local read_window, _, window_until = make 'window-value'
local read_counter = make 'counter-value'
return function(value)
local zero, rest, seen, hold, n, m, burst, _, leases = read_bucket(value, 0)
if zero then return leased_until(zero, rest, seen, hold, n, m, burst, leases or {}) end
local finish, _, length, turn = read_window(value)
if finish then return window_until(finish, length, turn) end
local ended, current, _, window = read_counter(value)
if ended and current > 0 then return ended + window end
return ended
end
elseif file == 'log-value' then
local put, keep = ...
local split = make 'block-value'
local HEAD, ENTRY, PAGE, TURN = 47, 14, 64, 4503599627370496
local function new_log(state, ends)
return { state = state, size = 0, skip = 0, base = 0, at = 0, sum = 0, window = 0, hold = 0, ends = ends, stored = 0, anew = true }
end
local function open_log(state)
local key, log = KEYS[state], new_log(state, 0)
local value = redis.pcall('GETRANGE', key, 0, HEAD + PAGE * ENTRY - 1)
if type(value) ~= 'string' then return log end
local length = #value
if length == HEAD + PAGE * ENTRY then length = call('STRLEN', key) end
if length < HEAD or string.byte(value) ~= 2 or (length - HEAD) % ENTRY > 0 then
local ends, inner = split(value)
if inner == '' then log.ends = ends end
return log
end
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
page = call('GETRANGE', KEYS[log.state], from, from + PAGE * ENTRY - 1)
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
local function charge_log(log, charge)
local from = charge.from
log.dirty, log.there, log.window, log.hold = true, true, charge.window, charge.hold
if from == log.size then
log.anew, log.stored, log.size, log.skip, log.base, log.at, log.sum = true, 0, 1, 0, 0, charge.time, charge.cost
return
end
if from > log.skip then
local _, base = entry(log, from - 1)
log.base, log.skip = base, from
end
if not charge.merges then
log.old_at, log.old_sum, log.size = log.at, log.sum, log.size + 1
end
log.at, log.sum = charge.time, (log.sum + charge.cost) % TURN
end
local function log_head(log, skip)
return pack('>BI7I7I7I7I7I7I4', 2, log.ends, log.window, log.hold, log.base, log.at, log.sum, skip)
end
local function log_expires(log)
local expires = log.at + log.window
if log.hold > log.window then expires = log.at + log.hold end
if log.ends > expires then expires = log.ends end
return expires
end
local function save_log(log)
local expires = log_expires(log)
local more = log.size - 1 > log.stored
local added = ''
if more and log.skip <= log.stored then added = pack('>I7I7', log.old_at, log.old_sum) end
local skip = log.skip
local whole = log.anew or log.stored <= PAGE or skip > log.size - skip
if whole then skip = 0 end
local head = log_head(log, skip)
if whole then
local body = ''
if not log.anew then
if log.stored <= PAGE then
body = string.sub(log.pages[0], log.skip * ENTRY + 1)
else
body = call('GETRANGE', KEYS[log.state], HEAD + log.skip * ENTRY, -1)
end
end
return put(log.state, head .. body .. added, expires)
end
call('SETRANGE', KEYS[log.state], 0, head)
if more then call('APPEND', KEYS[log.state], added) end
keep(log.state, expires)
end
return {
HEAD = HEAD,
ENTRY = ENTRY,
TURN = TURN,
new = new_log,
open = open_log,
entry = entry,
through = through,
first_after = first_after,
first_through = first_through,
charge = charge_log,
head = log_head,
expires = log_expires,
save = save_log,
}
elseif file == 'log' then
local logs = ...
local entry, through, first_through = logs.entry, logs.through, logs.first_through
local adopt_log, used_of, charge_of = make('log-adopt', logs)
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
local function decide_log(log, row, cost)
local limit = asked[row + 2]
local time, first, used = used_of(log, row)
if cost > limit - used then
if cost > limit then return 2, 0, look_log(log, row, first, log.size, log.at, used) end
return 1, fits_at(log, row, first, log.size, time, used, cost) - now, look_log(log, row, first, log.size, log.at, used)
end
local charge = charge_of(log, row, first, time, cost)
local last = log.size
if charge.merges then last = last - 1 end
local remaining, replenish, reset = look_log(log, row, first, last, time, used + cost)
return 0, 0, remaining, replenish, reset, charge
end
local function view_log(log, row)
local _, first, used = used_of(log, row)
return look_log(log, row, first, log.size, log.at, used)
end
return adopt_log, decide_log, view_log
elseif file == 'log-adopt' then
local logs = ...
local first_after, through = logs.first_after, logs.through
local MOST = 10000
local function adopt_log(log, row)
local length = asked[row + 3]
if not log.there or log.window == length then return log end
local hold = log.window
if log.hold > hold then hold = log.hold end
if log.at + hold <= now then
return logs.new(log.state, log.ends)
end
log.window, log.dirty = length, true
if hold > length then log.hold = hold else log.hold = 0 end
return log
end
local function used_of(log, row)
local time = now
if log.at > now then time = log.at end
local first = first_after(log, time - asked[row + 3], log.skip)
return time, first, through(log, log.size - 1) - through(log, first - 1)
end
local function charge_of(log, row, first, time, cost)
local from, hold, most = first, log.hold, asked[row + 4]
if hold > 0 then from, most = first_after(log, time - hold, log.skip), MOST end
local kept = log.size - from
local merges = kept > 0 and log.at == time
if not merges and kept >= most then
if from < first then from = from + 1 else merges = true end
end
if kept == 0 then hold = 0 end
return { from = from, time = time, merges = merges, cost = cost, window = asked[row + 3], hold = hold }
end
return adopt_log, used_of, charge_of
end
end
local kernels, logs = {}, nil
local function kernel(tag)
if tag == 1 then
kernels[1] = make 'window'
elseif tag == 2 then
kernels[2] = make 'counter'
else
local made
local function rare()
return make 'bucket'
end
local function bucket(value, row, times)
local n, m, burst = asked[row + 1], asked[row + 2], asked[row + 3]
local empty, empty_rest, cost, cost_rest = asked[row + 4], asked[row + 5], asked[row + 6], asked[row + 7]
if asked[row] == 0 then
local parts = empty * m
cost_rest = parts % n
cost = (parts - cost_rest) / n
parts = burst * m
empty_rest = -parts % n
empty = (parts + empty_rest) / n
end
local time, ends, passed = now, 0, 0
local zero, rest, seen, hold, leases, converted, written, expires
if value then
local size = #value
local high, low, age, old_n, old_m, old_burst
if size == 12 then
high, low, age, old_n, old_burst = parse('>I3I4I3BB', value)
rest, hold, old_m, old_burst = 0, 0, 1, old_burst * 1000000
elseif size == 28 then
high, low, rest, age, old_n, old_m, old_burst = parse('>I3I4I3I5I3I5I5', value)
hold = 0
end
local same = old_n == n and old_m == m and old_burst == burst
if same and high >= 6291456 and high < 10485504 and rest < n then
zero = (high - 8388608) * 4294967296 + low
seen = zero + age
else
made = made or rare(now, pack, parse)
zero, rest, seen, hold, old_n, old_m, old_burst, ends, leases = made.read(value, 0)
end
if zero then
if old_n ~= n or old_m ~= m or old_burst ~= burst then
zero, rest, seen, hold, leases = made.adopt(zero, rest, seen, hold, old_n, old_m, old_burst, n, m, burst, leases)
converted = zero
end
if zero and seen > now then time = seen end
if leases then
zero, rest, leases = made.settle(zero, rest, n, m, burst, leases, time)
end
end
end
local oldest = time - empty
if not zero then
zero, rest, hold = oldest, empty_rest, 0
elseif zero < oldest or (zero == oldest and rest <= empty_rest) then
zero, rest = oldest, empty_rest
if hold > 0 and time >= seen + hold then hold = 0 end
end
local open = times
if ends > now then open = 0 end
while passed < open do
local moved, left = zero + cost, rest + cost_rest
if left >= n then moved, left = moved + 1, left - n end
if moved > time or (moved == time and left > 0) then break end
zero, rest, passed = moved, left, passed + 1
end
if passed > 0 or converted then
expires = zero + empty
if rest > empty_rest then expires = expires + 1 end
local age, low = time - zero, zero % 4294967296
if hold > 0 or ends > 0 or leases or age < 0 or age >= 1099511627776 or n >= 16777216 or burst >= 1099511627776 then
made = made or rare(now, pack, parse)
written = made.value(zero, rest, time, hold, n, m, burst, ends, leases)
if leases then
expires = made.expires(zero, rest, time, hold, n, m, burst, leases)
elseif hold > 0 and time + hold > expires then
expires = time + hold
end
if ends > expires then expires = ends end
elseif m == 1 and rest == 0 and age < 16777216 and n < 256 and burst < 256000000 and burst % 1000000 == 0 then
written = pack('>I3I4I3BB', 8388608 + (zero - low) / 4294967296, low, age, n, burst / 1000000)
else
written = pack('>I3I4I3I5I3I5I5', 8388608 + (zero - low) / 4294967296, low, rest, age, n, m, burst)
end
end
return passed, written, expires
end
kernels[0], kernels[4] = bucket, bucket
end
return kernels[tag]
end
local plain = asked[3]
local read, put, keep
if ARGV[2] or given ~= 0 or plain < #KEYS or plain > 4000 then read, put, keep = make 'state' end
local values = {}
if ARGV[2] and ARGV[2] ~= '' then
for state = 1, plain do values[state] = read(state) end
elseif plain > 0 then
values = call('MGET', unpack(KEYS, 1, math.min(plain, 4000)))
for state = 4001, plain do values[state] = read(state) end
end
local fresh, expires = {}, {}
local told, size = {}, 0
local closed, charging = {}, asked[2] % 2
for place = 5 + asked[4] - (asked[2] - charging) / 2, 4 + asked[4] do closed[asked[place]] = true end
local masks, digits, room = {}, 0, 1
local function tell_uncharged(at, calls, head, seen)
for place = at, at + 2 * calls - 2, 2 do
local state, row = asked[place], asked[place + 1]
if asked[row] == 3 then
told[head + 3], told[head + 4], told[head + 5] = logs.view(seen[state], row)
head = head + 5
end
end
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
local passed, value, needed = (kernels[asked[row]] or kernel(asked[row]))(states[state] or fresh[state] or values[state], row, 1)
if passed == 0 then open = false else states[state], ends[state] = value, needed end
end
end
if open then
for place = at, at + 2 * calls - 2, 2 do
if closed[asked[place]] and not values[asked[place]] then return 0 end
end
if charging == 0 then tell_uncharged(at, calls, head, seen) end
for state, value in pairs(states) do fresh[state], expires[state] = value, ends[state] end
for state, charge in pairs(charges) do logs.charge(state, seen[state], charge) end
return 1
end
tell_uncharged(at, calls, head, seen)
for place = at, at + 2 * calls - 2, 2 do
local state, row = asked[place], asked[place + 1]
if asked[row] ~= 3 then
local _, value, needed = (kernels[asked[row]] or kernel(asked[row]))(fresh[state] or values[state], row, 0)
if value then fresh[state], expires[state] = value, needed end
end
end
return 0
end
if plain < #KEYS then
local all, open = make('log-value', put, keep), {}
local adopt_log, decide_log, view_log = make('log', all)
logs = {
of = function(state)
if not open[state] then open[state] = all.open(state) end
return open[state]
end,
adopt = adopt_log,
decide = decide_log,
view = view_log,
charge = function(state, log, charge)
open[state] = log
all.charge(log, charge)
end,
save = function()
for _, log in pairs(open) do
if log.dirty then all.save(log) end
end
end,
}
for state = plain + 1, #KEYS do
local log = logs.of(state)
values[state] = (log.there or log.ends > 0) and log.ends
end
end
local at, last = 5 + asked[4], #asked
while at <= last do
local calls = asked[at]
local first, final, row, times = 1, 1, 0, 1
if calls == 0 then row, first, final, times = asked[at + 1], asked[at + 2], asked[at + 3], asked[at + 4] end
for state = first, final do
local passed, value, needed
if calls == 0 then
passed, value, needed = (kernels[asked[row]] or kernel(asked[row]))(fresh[state] or values[state], row, times)
if closed[state] and not values[state] then
passed = 0
elseif value then
fresh[state], expires[state] = value, needed
end
else
passed = group(at + 1, calls)
end
if room * (times + 1) > 4503599627370496 then
masks[#masks + 1] = digits
digits, room = 0, 1
end
digits, room = digits * (times + 1) + passed, room * (times + 1)
end
at = at + 5
if calls > 0 then at = at - 4 + 2 * calls end
end
if charging == 1 then
for state, value in pairs(fresh) do
if put then
put(state, value, expires[state])
else
call('SET', KEYS[state], value, 'PXAT', math.floor(expires[state] / 1000))
end
end
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

export const leaseProgram: Program = {
  sha1: 'e09ed0fed3ceda3b89fd54f3c0237846596d94de',
  source: `local call, KEYS = redis.call, KEYS
local pack, parse = struct.pack, struct.unpack
local asked = cjson.decode(ARGV[1])
local given = asked[1]
local clock = given == 0 and call('TIME')
local now = clock and clock[1] * 1000000 + clock[2] or given
local function make(file, ...)
if file == 'strings' then
local extra = (ARGV[3] or 0) + 0
local function read(state)
local value = redis.pcall('GET', KEYS[state])
return type(value) == 'string' and value
end
local function last_of(expires)
if given == 0 then return math.floor(expires / 1000) end
local time = call('TIME')
return time[1] * 1000 + math.ceil(math.max(0, expires - now) / 1000) + 60000
end
local function put(state, value, expires)
call('SET', KEYS[state], value, 'PXAT', last_of(expires + extra))
end
local function keep(state, expires)
call('PEXPIREAT', KEYS[state], last_of(expires + extra))
end
local function remove(state)
call('DEL', KEYS[state])
end
return read, put, keep, remove, extra, last_of
elseif file == 'drop' then
local put, remove, extra = ...
local _, block_value = make 'block-value'
return function(state, ends)
if ends > now then return put(state, block_value(ends), ends) end
if extra > 0 then return put(state, block_value(1), now) end
remove(state)
end
elseif file == 'block-value' then
local function split(value)
local ends, inner = 0, value
if #value >= 7 then
local high, low = parse('>I3I4', value)
if high >= 14680064 then ends, inner = (high - 14680064) * 4294967296 + low, string.sub(value, 8) end
end
if string.byte(inner) == 1 then return 9000000000000000, '' end
return ends, inner
end
local function block_value(ends)
local low = ends % 4294967296
return pack('>I3I4', 14680064 + (ends - low) / 4294967296, low)
end
local function blocked(value, ends)
if ends + 60000000 <= now then return value end
return block_value(ends) .. value
end
return split, block_value, blocked
elseif file == 'bucket' then
local read, value = make 'bucket-value'
local flow, cut, level_of, owed_span, latest_zero = make 'bucket-flow'
local out_on, settle, expires = make('bucket-leases', flow, cut)
local adopt = make('bucket-adopt', flow, cut, level_of, owed_span, latest_zero, out_on, settle)
return {
read = read,
value = value,
flow = flow,
cut = cut,
level_of = level_of,
latest_zero = latest_zero,
out_on = out_on,
settle = settle,
expires = expires,
adopt = adopt,
}
elseif file == 'bucket-value' then
local split, _, blocked = make 'block-value'
local function is_possible(rest, seen, hold, n, m, burst)
if rest >= n or seen > 9007199254740991 or hold > 3200000000000000 then return false end
if m < 1 or burst < 1 or m > 9007199254 then return false end
return n * (burst / 1000000 + 2) <= 9007199254740992 and burst / n * m <= 3200000000000000
end
local function read_bucket(value, ends)
local size = #value
local high, low, rest, age, seen, hold, n, m, burst
if size == 12 then
high, low, age, n, burst = parse('>I3I4I3BB', value)
rest, hold, m, burst = 0, 0, 1, burst * 1000000
elseif size == 28 then
high, low, rest, age, n, m, burst = parse('>I3I4I3I5I3I5I5', value)
hold = 0
elseif size >= 49 and (size - 49) % 28 == 0 then
high, low, rest, seen, hold, n, m, burst = parse('>I3I4I7I7I7I7I7I7', value)
end
if high and high >= 6291456 and high < 10485760 then
local zero, leases = (high - 8388608) * 4294967296 + low, nil
seen = seen or zero + age
if not is_possible(rest, seen, hold, n, m, burst) then return nil, nil, nil, nil, nil, nil, nil, 0 end
for at = 50, size, 28 do
leases = leases or {}
leases[#leases + 1] = { parse('>I7I7I7I7', value, at) }
end
return zero, rest, seen, hold, n, m, burst, ends, leases
end
local until_then, inner = split(value)
if until_then == 0 or ends > 0 then return nil, nil, nil, nil, nil, nil, nil, 0 end
if inner == '' then return nil, nil, nil, nil, nil, nil, nil, until_then end
return read_bucket(inner, until_then)
end
local function bucket_value(zero, rest, seen, hold, n, m, burst, ends, leases)
local low, age = zero % 4294967296, seen - zero
local high = 8388608 + (zero - low) / 4294967296
local value
if hold > 0 or leases or age < 0 or age >= 1099511627776 or n >= 16777216 or burst >= 1099511627776 then
value = pack('>I3I4I7I7I7I7I7I7', high, low, rest, seen, hold, n, m, burst)
for _, lease in ipairs(leases or {}) do value = value .. pack('>I7I7I7I7', lease[1], lease[2], lease[3], lease[4]) end
elseif m == 1 and rest == 0 and age < 16777216 and n < 256 and burst < 256000000 and burst % 1000000 == 0 then
value = pack('>I3I4I3BB', high, low, age, n, burst / 1000000)
else
value = pack('>I3I4I3I5I3I5I5', high, low, rest, age, n, m, burst)
end
if ends > 0 then return blocked(value, ends) end
return value
end
return read_bucket, bucket_value
elseif file == 'bucket-flow' then
local function flow(n, m, micro, from)
local token = m * 1000000
local token_rest, micro_rest = token % n, m % n
local parts = micro % 1000000
local tokens = (micro - parts) / 1000000
local sum = from + tokens * token_rest + parts * micro_rest
local left = sum % n
return tokens * ((token - token_rest) / n) + parts * ((m - micro_rest) / n) + (sum - left) / n, left
end
local function pieces(n, m, unit, from, span)
local count = 0
if span <= 0 then return count end
local guess = (span - from / n) / (m * unit / n) * (1 - 2 ^ -50)
if guess > 0 then count = guess - guess % 1 end
while true do
local micros, left = flow(n, m, (count + 1) * unit, from)
if micros > span or (micros == span and left > 0) then return count end
count = count + 1
end
end
local function cut(zero, rest, n, m, micro, time)
if micro < 0 then micro = 0 end
local span, left = flow(n, m, micro, 0)
local low, low_rest = time - span, 0
if left > 0 then low, low_rest = low - 1, n - left end
if zero > low or (zero == low and rest >= low_rest) then return zero, rest end
return low, low_rest
end
local function level_of(zero, rest, n, m, time)
local tokens = pieces(n, m, 1000000, rest, time - zero)
local micros, left = flow(n, m, tokens * 1000000, rest)
zero, rest = zero + micros, left
local parts = pieces(n, m, 1, rest, time - zero)
return tokens * 1000000 + parts, zero, rest, parts
end
local function owed_span(n, m, tokens)
local token = m * 1000000
local rest = token % n
local half = rest % 131072
local one = tokens * ((rest - half) / 131072)
local first = one % n
local carried = first * 131072 + tokens * half
local left = carried % n
return tokens * ((token - rest) / n) + (one - first) / n * 131072 + (carried - left) / n, left
end
local function latest_zero(n, m, burst, time)
return math.min(time + 3155760000000000, 9007199254740990 - (flow(n, m, burst, 0)))
end
return flow, cut, level_of, owed_span, latest_zero
elseif file == 'bucket-leases' then
local flow, cut = ...
local function out_on(leases)
local out = 0
for _, lease in ipairs(leases) do out = out + lease[3] end
return out
end
local function settle(zero, rest, n, m, burst, leases, time)
local out, left = out_on(leases), {}
for _, lease in ipairs(leases) do
if lease[4] <= time and #left == 0 then
zero, rest = cut(zero, rest, n, m, burst - out, lease[4])
out = out - lease[3]
else
left[#left + 1] = lease
end
end
if #left == 0 then return zero, rest, nil end
zero, rest = cut(zero, rest, n, m, burst - out, time)
return zero, rest, left
end
local function leased_until(zero, rest, seen, hold, n, m, burst, leases)
local out = out_on(leases)
for _, lease in ipairs(leases) do
zero, rest = cut(zero, rest, n, m, burst - out, lease[4])
out = out - lease[3]
end
local micros, left = flow(n, m, burst, rest)
local expires = zero + micros
if left > 0 then expires = expires + 1 end
if hold > 0 and seen + hold > expires then expires = seen + hold end
return expires
end
return out_on, settle, leased_until
elseif file == 'bucket-adopt' then
local flow, cut, level_of, owed_span, latest_zero, out_on, settle = ...
local function adopt_bucket(zero, rest, seen, hold, old_n, old_m, old_burst, n, m, burst, leases)
local time = now
if seen > now then time = seen end
if leases then
zero, rest, leases = settle(zero, rest, old_n, old_m, old_burst, leases, time)
end
local full, full_rest = flow(old_n, old_m, old_burst, 0)
local fresh, fresh_rest = flow(old_n, old_m, old_burst, rest)
local ends = zero + fresh
if fresh_rest > 0 then ends = ends + 1 end
if hold > 0 and seen + hold > ends then ends = seen + hold end
if ends <= time then return nil end
local longest = full
if full_rest > 0 then longest = full + 1 end
zero, rest = cut(zero, rest, old_n, old_m, old_burst, time)
local debt = 0
if zero > time or (zero == time and rest > 0) then
local token = old_m * 1000000
local token_rest = token % old_n
debt = math.min(9007199256, math.floor((zero - time + 1) / ((token - token_rest) / old_n + token_rest / old_n)) + 1)
local put, put_rest = owed_span(old_n, old_m, debt)
zero, rest = zero - put, rest - put_rest
if rest < 0 then zero, rest = zero - 1, rest + old_n end
end
local micro, parts
micro, zero, rest, parts = level_of(zero, rest, old_n, old_m, time)
local part = (time - zero) * old_n - rest - parts * old_m
local extra = 0
if debt == 0 and micro >= burst then
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
zero, rest = time - span - (behind + (-behind) % n) / n, (-behind) % n
if debt > 0 then
local owed, owed_rest = owed_span(n, m, debt)
zero, rest = zero + owed, rest + owed_rest
if rest >= n then zero, rest = zero + 1, rest - n end
end
local latest = latest_zero(n, m, burst, time)
if zero > latest or (zero == latest and rest > 0) then zero, rest = latest, 0 end
if leases then
zero, rest = cut(zero, rest, n, m, burst - out_on(leases), time)
end
return zero, rest, time, longest, leases
end
return adopt_bucket
end
end
local read, put, _, remove, extra = make 'strings'
local drop = make('drop', put, remove, extra)
local bucket = make 'bucket'
local flow, cut, level_of, out_on = bucket.flow, bucket.cut, bucket.level_of, bucket.out_on
local MOST_HOLDERS = 64
local function with(leases, lease)
local place = #leases + 1
for index, other in ipairs(leases) do
if other[4] > lease[4] then
place = index
break
end
end
table.insert(leases, place, lease)
return leases
end
local function grant(state, value, at)
local n, m, burst = asked[at], asked[at + 1], asked[at + 2]
local least, most, holder, sequence, life = asked[at + 3], asked[at + 4], asked[at + 5], asked[at + 6], asked[at + 7]
local time, ends = now, 0
local zero, rest, seen, hold, leases, changed
if value then
local old_n, old_m, old_burst
zero, rest, seen, hold, old_n, old_m, old_burst, ends, leases = bucket.read(value, 0)
if zero and (old_n ~= n or old_m ~= m or old_burst ~= burst) then
zero, rest, seen, hold, leases = bucket.adopt(zero, rest, seen, hold, old_n, old_m, old_burst, n, m, burst, leases)
changed = true
end
if zero and seen > now then time = seen end
end
if ends > now then most = 0 end
local others, own = {}, nil
local stale = false
if leases then
local settled_zero, settled_rest, settled = bucket.settle(zero, rest, n, m, burst, leases, time)
for _, lease in ipairs(settled or {}) do
if lease[1] == holder then own = lease else others[#others + 1] = lease end
end
stale = own and sequence <= own[2]
if not stale then zero, rest, leases, changed = settled_zero, settled_rest, settled, true end
end
local granted = 0
if not stale then
local kept, returned, until_when = 0, 0, time + life
if own then
kept = math.min(asked[at + 8], own[3])
returned = math.min(asked[at + 9], own[3] - kept)
until_when = math.max(until_when, own[4])
local back, left = flow(n, m, returned, 0)
rest = rest - left
if rest < 0 then back, rest = back + 1, rest + n end
local out = out_on(others) + kept
zero, rest = cut(zero - back, rest, n, m, burst - out, time)
if seen < time then seen = time end
leases = others
end
local level = 0
if most >= least and (own or #others < MOST_HOLDERS) then
level = burst
if zero then
local full_zero, full_rest = cut(zero, rest, n, m, burst, time)
level = level_of(full_zero, full_rest, n, m, time)
end
end
if level >= least then granted = math.min(most, level) end
if granted > 0 then
local low, low_rest = cut(-math.huge, 0, n, m, burst, time)
if not zero then
zero, rest, hold = low, low_rest, 0
elseif zero < low or (zero == low and rest <= low_rest) then
zero, rest = low, low_rest
if hold > 0 and time >= seen + hold then hold = 0 end
end
local span, left = flow(n, m, granted, rest)
zero, rest, seen = zero + span, left, time
end
if kept + granted > 0 then leases = with(others, { holder, sequence, kept + granted, until_when }) end
changed = changed or granted > 0
end
if changed then
if leases and #leases == 0 then leases = nil end
if not zero then
drop(state, ends)
else
local expires = bucket.expires(zero, rest, seen, hold, n, m, burst, leases or {})
if ends > expires then expires = ends end
put(state, bucket.value(zero, rest, seen, hold, n, m, burst, ends, leases), expires)
end
end
return granted
end
local values, granted = {}, {}
for place = 1, #KEYS do
local value = read(place)
values[place] = value
granted[place] = grant(place, value, 3 + (place - 1) * asked[2])
end
local size = #KEYS + 1
values[size] = now
for place = 1, #granted do values[size + place] = granted[place] end
return values
`,
}

export const saltProgram: Program = {
  sha1: 'f5bcfa7d8f1e64dd157947c5ecfe97d9b99c16a7',
  source: `redis.call('SET', KEYS[1], ARGV[1], 'NX')
return redis.call('GET', KEYS[1])
`,
}
