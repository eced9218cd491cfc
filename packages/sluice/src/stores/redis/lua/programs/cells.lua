-- Reads the rows of a region that changed since a cursor, the oldest changes first.
--
-- KEYS        the region's record; how often rows and record were written; the cells with rows, by the number of their last change
-- ARGV[1]     time; the cursor; the most rows
-- returns     run; time; record, nil for none; the number of the last change; 1 if there are no more rows, else 0; how many cells have rows; rows,
--             nil for those that are gone

-- include: clock.lua

local info = call('INFO', 'server') .. call('INFO', 'replication')
local run = string.match(info, 'run_id:(%x+)') .. '-' .. string.match(info, 'master_replid:(%x+)')
local keys = call('ZRANGEBYSCORE', KEYS[3], '(' .. string.format('%.0f', args[2]), '+inf', 'LIMIT', 0, args[3])
local found = { run, now, call('GET', KEYS[1]), (call('GET', KEYS[2]) or 0) + 0, #keys < args[3] and 1 or 0, call('ZCARD', KEYS[3]) }
for index = 1, #keys do found[6 + index] = call('GET', keys[index]) end
return found
