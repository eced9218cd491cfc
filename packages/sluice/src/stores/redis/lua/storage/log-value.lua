-- Programs read parts of a log and append to it. Its value begins with 47 bytes:
-- - the byte 2
-- - in 7 bytes each: until when the key is blocked, window, keep_for, base, instant of the newest entry, sum of the newest entry
-- - how many of the first entries are skipped, because they no longer count (4 bytes)
-- The other entries follow, oldest first, with instant and sum (14 bytes). A sum counts the micro-tokens of all entries so far, modulo
-- 2^52. `base` is the sum before the first entry that is not skipped.

local put, keep = ...
local split = make 'block-value'

local HEAD, ENTRY, PAGE, TURN = 47, 14, 64, 4503599627370496

local function new_log(state, ends)
  return { state = state, size = 0, skip = 0, base = 0, at = 0, sum = 0, window = 0, keep_for = 0, ends = ends, stored = 0, anew = true }
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
  local _, ends, window, keep_for, base, at, sum, skip = parse('>BI7I7I7I7I7I7I4', value)
  local stored = (length - HEAD) / ENTRY
  if skip > stored or window < 1 then return log end
  log.there, log.anew, log.stored, log.size = true, false, stored, stored + 1
  log.ends, log.window, log.keep_for, log.base, log.at, log.sum, log.skip = ends, window, keep_for, base, at, sum, skip
  log.pages = { [0] = string.sub(value, HEAD + 1) }
  return log
end

-- Instant and running sum of an entry; indexes begin at 0.
local function entry(log, index)
  if index == log.size - 1 then return log.at, log.sum end
  if index == log.stored then return log.old_at, log.old_sum end
  local nth = index % PAGE
  local number = (index - nth) / PAGE
  local page = log.pages[number]
  if not page then
    local from = HEAD + number * PAGE * ENTRY
    page = call('GETRANGE', KEYS[log.state], from, from + PAGE * ENTRY - 1)
    log.pages[number] = page
  end
  local at, sum = parse('>I7I7', page, nth * ENTRY + 1)
  return at, sum
end

-- The micro-tokens of the entries up to this index, without the skipped ones.
local function through(log, index)
  if index < log.skip then return 0 end
  local _, sum = entry(log, index)
  return (sum - log.base) % TURN
end

-- The index of the first entry after an instant, from index `from` on; log.size for none.
local function first_after(log, instant, from)
  local low, high = from, log.size
  while low < high do
    local middle = math.floor((low + high) / 2)
    if entry(log, middle) > instant then high = middle else low = middle + 1 end
  end
  return low
end

-- The first index from `from` on whose running sum (`through`) is at least `sum`; log.size for none.
local function first_through(log, sum, from)
  local low, high = from, log.size
  while low < high do
    local middle = math.floor((low + high) / 2)
    if through(log, middle) >= sum then high = middle else low = middle + 1 end
  end
  return low
end

-- Drops the entries before index `charge.from`, then adds a charge at `charge.time`, which is never before the newest entry.
local function charge_log(log, charge)
  local from = charge.from
  log.dirty, log.there, log.window, log.keep_for = true, true, charge.window, charge.keep_for
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
  return pack('>BI7I7I7I7I7I7I4', 2, log.ends, log.window, log.keep_for, log.base, log.at, log.sum, skip)
end

local function log_expires(log)
  local expires = log.at + log.window
  if log.keep_for > log.window then expires = log.at + log.keep_for end
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
