-- Reads the rows that changed after a cursor, oldest changes first (docs/decisions/0034-regions-on-redis.md).
--
-- KEYS        the first five of region.lua
-- ARGV[1]     a JSON array: time; the cursor, which is the number of a change; the most cells to return
-- returns     run; time; the beginning of the record, nil for none; its rest; the number of the last change; 1 if there are no more rows,
--             else 0; how many cells have rows in all; then name and rows of each changed cell

-- include: clock.lua

local cursor, most = args[2], args[3]
local info = call('INFO', 'server') .. call('INFO', 'replication')
local server = string.match(info, 'run_id:(%x+)') .. '-' .. string.match(info, 'master_replid:(%x+)') .. '-'
local begins = call('GET', KEYS[1])
local run = begins and string.match(begins, '^%S+') or ''
-- A record of another server does not count.
if string.sub(run, 1, #server) ~= server then run = server end
local names = {}
-- Each list has up to 64 successive changes. Each but the first has a change after the cursor, so `most + 1` lists are enough.
local lists = call('ZRANGEBYSCORE', KEYS[5], math.floor(cursor / 64), '+inf', 'LIMIT', 0, most + 1)
for index = 1, #lists do
  local list, after = KEYS[5] .. ':' .. lists[index], '(' .. string.format('%.0f', cursor)
  local more = call('ZRANGEBYSCORE', list, after, '+inf', 'LIMIT', 0, most - #names)
  for name = 1, #more do names[#names + 1] = more[name] end
  if #names == most then break end
end
local found = { run, now, begins, begins and call('GET', KEYS[2]), (call('GET', KEYS[3]) or 0) + 0 }
found[6], found[7] = #names < most and 1 or 0, call('HLEN', KEYS[4])
local rows = #names > 0 and call('HMGET', KEYS[4], unpack(names))
for index = 1, #names do
  if rows[index] then
    found[#found + 1] = names[index]
    found[#found + 1] = rows[index]
  end
end
return found
