-- Runs before a program that decides by a region's shares of limits (docs/decisions/0034-regions-on-redis.md). Lets it run if the caller's
-- shares follow from the server's run (life of its data), record (weights), and rows (units sent and received) of cells (keys of limits),
-- and all states are of these shares. Before that, removes its own keys and arguments, and puts the states into KEYS.found.
--
-- KEYS        after those of the program: `region` (run and change number of the region's record). A state of which the region holds
--             nothing has `none:` before its name, and is never written
-- ARGV        after those of the program: the value of `region`, as the caller knows it; the instant at which an era (time of constant
--             weights) last closed or opened; time, 0 for the server's. Then the cells in order, those with equal shares and successive
--             states together: n, m and burst of the share, n 0 if the region holds nothing; the instant from which a bucket without a
--             state is full; the index of the first state; how many cells, negative if none has rows. If some have, for each cell the
--             number of its rows' last change and a space, or 0 for none. Last, 4 * how many arguments the program has, plus 1 to compare
--             the run, plus 2 for the brief form
--
--             The brief form is for buckets.lua on the server's time, if all states have the share in its arguments. It has the first two
--             arguments, the instant from which a bucket without a state is full, and if any cell has rows, each number as above
-- returns     if the program may not run: which cells must be read again, counted from 1; 0 for the region's record

do
  local call, KEYS, ARGV = redis.call, KEYS, ARGV
  local sub, byte, parse = string.sub, string.byte, struct.unpack
  local last = #ARGV
  local form = ARGV[last] % 4
  local own = (ARGV[last] - form) / 4
  local begins, shifted = ARGV[own + 1], ARGV[own + 2] + 0
  local region = #KEYS
  local hash = KEYS[region] .. ':rows'
  if form % 2 == 1 then
    local info = call('INFO', 'server') .. call('INFO', 'replication')
    local server = string.match(info, 'run_id:(%x+)') .. '-' .. string.match(info, 'master_replid:(%x+)') .. '-'
    local record = call('GET', KEYS[region])
    if record and sub(record, 1, #server) ~= server then call('DEL', KEYS[region]) end
    if sub(begins, 1, #server) ~= server then return { 0 } end
  end
  -- Lua limits the arguments of a function. So keys, and below rows, are read one by one after the 4,000th.
  local found = call('MGET', unpack(KEYS, 1, math.min(region, 4000)))
  for key = 4001, region do found[key] = call('MGET', KEYS[key])[1] end
  if found[region] ~= begins then return { 0 } end
  -- The index after the prefix (the record's key is `PREFIXregion`), where a state's key may have a hash tag of three digits.
  local prefixed = #KEYS[region] - 5
  local at, cell, stale, now = own + 4, 0, nil, nil
  local brief = form >= 2
  local done = not brief and at >= last
  while not done do
    local n, m, burst, settled, first, cells
    if brief then
      n, m, burst, settled, first = ARGV[1] + 0, ARGV[2] + 0, ARGV[3] + 0, ARGV[own + 3] + 0, 1
      cells = at < last and region - 1 or 1 - region
    else
      n, m, burst = ARGV[at] + 0, ARGV[at + 1] + 0, ARGV[at + 2] + 0
      settled, first, cells = ARGV[at + 3] + 0, ARGV[at + 4] + 0, ARGV[at + 5] + 0
      at = at + 6
    end
    local count = cells > 0 and cells or -cells
    local names = {}
    for offset = 0, count - 1 do
      local key = KEYS[first + offset]
      local from = byte(key, prefixed) == 123 and prefixed + 5 or prefixed
      names[offset + 1] = sub(key, n > 0 and from or from + 5)
    end
    local all = call('HMGET', hash, unpack(names, 1, math.min(count, 4000)))
    for name = 4001, count do all[name] = call('HGET', hash, names[name]) end
    for offset = 0, count - 1 do
      cell = cell + 1
      local rows, value, change = all[offset + 1], found[first + offset], cells > 0 and ARGV[at + offset] or '0'
      local known
      if change == '0' then known = not rows else known = rows and sub(rows, 1, #change) == change end
      if known and n > 0 then
        local head = value and byte(value)
        if head and head >= 224 then value = sub(value, 8) end
        local size = value and #value or 0
        if size == 0 then
          if not now then
            now = brief and 0 or ARGV[own + 3] + 0
            if now == 0 then
              local clock = call('TIME')
              now = clock[1] * 1000000 + clock[2]
            end
          end
          known = now >= settled
        else
          local high, low, age, seen, of_n, of_m, of_burst, _
          if size == 12 then
            high, low, age, of_n, of_burst = parse('>I3I4I3BB', value)
            of_m, of_burst = 1, of_burst * 1000000
          elseif size == 28 then
            high, low, _, age, of_n, of_m, of_burst = parse('>I3I4I3I5I3I5I5', value)
          elseif size == 49 then
            high, low, _, seen, _, of_n, of_m, of_burst = parse('>I3I4I7I7I7I7I7I7', value)
          end
          seen = seen or high and (high - 8388608) * 4294967296 + low + age
          known = high and seen >= shifted and of_n == n and of_m == m and of_burst == burst
        end
      end
      if not known then
        stale = stale or {}
        stale[#stale + 1] = cell
      end
    end
    if cells > 0 then at = at + cells end
    done = at >= last
  end
  if stale then return stale end
  KEYS[region] = nil
  for index = last, own + 1, -1 do ARGV[index] = nil end
  KEYS.found = found
end
