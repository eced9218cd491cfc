-- Reads the rows of a region that changed after a cursor, those with the oldest changes first.
--
-- KEYS        the region's record; the number of changes so far of its rows and its record; a sorted set of the cells that have rows, by
--             the number of their last change
-- ARGV[1]     time; the cursor: the number of a change; the most rows to return
-- returns     run; time; record, nil for none; the number of the last change; 1 if there are no more rows, else 0; how many cells have
--             rows; then the rows, nil for those that were deleted

-- include: clock.lua

local info = call('INFO', 'server') .. call('INFO', 'replication')
local server = string.match(info, 'run_id:(%x+)') .. '-' .. string.match(info, 'master_replid:(%x+)') .. '-'
local record = call('GET', KEYS[1])
local run = record and string.match(record, '^%S+') or ''
-- A record of another server says nothing.
if string.sub(run, 1, #server) ~= server then run = server end
local keys = call('ZRANGEBYSCORE', KEYS[3], '(' .. string.format('%.0f', args[2]), '+inf', 'LIMIT', 0, args[3])
local found = { run, now, record, (call('GET', KEYS[2]) or 0) + 0, #keys < args[3] and 1 or 0, call('ZCARD', KEYS[3]) }
for index = 1, #keys do found[6 + index] = call('GET', keys[index]) end
return found
