-- Precedes a program that decides by shares of a region. It lets the program run only if the run of the server, the region's record and the
-- rows are still those from which the shares were computed. Before the program runs, it removes its own keys and its argument.
--
-- The text that is sent begins with the run. So a server that knows the text by its digest is in that run, because scripts are neither in a
-- snapshot nor replicated. A server gets the text only from a call that also compares the run. This call deletes the record if another run
-- wrote it.
--
-- KEYS        after those of the program: the region's record; for each state that is a share the key of its rows
-- ARGV        the last one: 1 to compare the run, else 0; the run; how the record begins; the instant of the latest shift; time, 0 for the
--             server's; then for each state that is a share: its index; the number of the last change of its rows, 0 if it has none; n, m
--             and burst of the share, 0 if the region holds nothing; the instant from which an absent state need not be settled
-- returns     if the program may not run: which shares must be read again, by their order in ARGV; 0 for the region's record

do
  local call, KEYS, ARGV = redis.call, KEYS, ARGV
  local parse = struct.unpack
  local guard = cjson.decode(ARGV[#ARGV])
  ARGV[#ARGV] = nil
  local cells = (#guard - 5) / 6
  local region = #KEYS - cells
  if guard[1] == 1 then
    local info = call('INFO', 'server') .. call('INFO', 'replication')
    local server = string.match(info, 'run_id:(%x+)') .. '-' .. string.match(info, 'master_replid:(%x+)') .. '-'
    local record = call('GET', KEYS[region])
    if record and string.sub(record, 1, #server) ~= server then call('DEL', KEYS[region]) end
    if string.sub(guard[2], 1, #server) ~= server then return { 0 } end
  end
  local keys = {}
  for cell = 0, cells do keys[cell + 1] = KEYS[region + cell] end
  for cell = 1, cells do keys[cells + 1 + cell] = KEYS[guard[6 * cell]] end
  local found = call('MGET', unpack(keys))
  local record = found[1]
  if not record or string.sub(record, 1, #guard[3]) ~= guard[3] then return { 0 } end
  local stale = {}
  for cell = 1, cells do
    local at = 6 * cell
    local rows, value = found[1 + cell], found[cells + 1 + cell]
    local known = guard[at + 1] == (rows and tonumber(string.match(rows, '^%d+')) or 0)
    if known and guard[at + 2] > 0 then
      if value and string.byte(value) and string.byte(value) >= 224 then value = string.sub(value, 8) end
      local size = value and #value or 0
      if size == 0 then
        local now = guard[5]
        if now == 0 then
          local clock = call('TIME')
          now = clock[1] * 1000000 + clock[2]
        end
        known = now >= guard[at + 5]
      else
        local high, low, age, seen, n, m, burst, _
        if size == 12 then
          high, low, age, n, burst = parse('>I3I4I3BB', value)
          m, burst = 1, burst * 1000000
        elseif size == 28 then
          high, low, _, age, n, m, burst = parse('>I3I4I3I5I3I5I5', value)
        elseif size == 49 then
          high, low, _, seen, _, n, m, burst = parse('>I3I4I7I7I7I7I7I7', value)
        end
        seen = seen or high and (high - 8388608) * 4294967296 + low + age
        known = high and seen >= guard[4] and n == guard[at + 2] and m == guard[at + 3] and burst == guard[at + 4]
      end
    end
    if not known then stale[#stale + 1] = cell end
  end
  if #stale > 0 then return stale end
  for key = #KEYS, region, -1 do KEYS[key] = nil end
end
