-- Reads or replaces what a store knows of its regions (the record), and one cell. A cell is one key of one limit, in all regions: its
-- state, and its rows, which say what units (thousandths of the limit) were sent and received. The program replaces only if run, record,
-- state and rows are still those that were read.
--
-- KEYS        the beginning of the region's record (its run and the number of its last change); the rest of the record; how often rows and
--             record were written; a hash of the rows of all cells, each with the number of its last change; the numbers of changes; then,
--             for a cell, its state
-- ARGV[1]     time. To write, then what was read: the run; the beginning of the record; then the new record, empty to leave it. For a cell
--             also: the digest of the state that was read, empty for none; the number of the rows that were read, 0 for none; the new state
--             in hexadecimal digits, empty for none, `-` to leave the state, even if it is not the one that was read; the end of its block,
--             0 for none; the instant until which it must be kept; the new rows, empty for none, `-` to leave them; the most cells
-- returns     to read, or if something has changed, or if the state is left: run, time, the beginning of the record, its rest, state,
--             digest of the state, rows; nil for what is missing. Otherwise the number of this change, or 0 if there is no room for another
--             cell
--
-- Each change has a number. The numbers are in sorted sets of cells' names, one set for each 64 successive numbers, and a further set lists
-- these sets. A single set of all names would take half of the memory of a cell, because Redis does not pack a set of more than 128
-- members. The name of a cell is that of its state, without prefix and hash tag.

-- include: clock.lua

-- modules

local read, put, _, remove, extra = make 'strings'
local info = call('INFO', 'server') .. call('INFO', 'replication')
local server = string.match(info, 'run_id:(%x+)') .. '-' .. string.match(info, 'master_replid:(%x+)') .. '-'
local begins = call('GET', KEYS[1])
local record = begins and call('GET', KEYS[2])
if not record then begins = '' end
local state = 6
local has_cell = #KEYS >= state
local value = has_cell and read(state)
-- The prefix is before `region`. A hash tag has three digits.
local name = has_cell and string.sub(KEYS[state], #KEYS[1] - 5)
if has_cell and string.byte(name) == 123 then name = string.sub(name, 6) end
local rows = has_cell and call('HGET', KEYS[4], name)
local digest = value and redis.sha1hex(value) or ''
local change = rows and tonumber(string.match(rows, '^%d+')) or 0

-- `run` names one life of the server's data. It is read from the record if this server wrote the record. Otherwise it is the name that the
-- call proposes for the first record, or else a new one. A new name ends with the time. So a server that was emptied without a restart gets
-- another name than before.
local run = string.match(begins, '^%S+') or ''
if string.sub(run, 1, #server) ~= server then
  local time = call('TIME')
  local proposed = args[3] == begins and string.sub(args[2], 1, #server) == server
  run = proposed and args[2] or server .. string.format('%x%05x', time[1], time[2])
end

local same = args[2] == run and args[3] == begins
if same and has_cell then same = (args[5] == digest or args[7] == '-') and args[6] == change end
if not same then return { run, now, begins, record, value, digest, rows } end

local kept = not has_cell or args[10] == '-' or args[10] == ''
if not kept and change == 0 and call('HLEN', KEYS[4]) >= args[11] then return 0 end
local number = call('INCR', KEYS[3])
if args[4] ~= '' then
  call('SET', KEYS[1], run .. ' ' .. number .. ' ')
  call('SET', KEYS[2], args[4])
end
if not has_cell then return number end
if args[7] ~= '-' then
  local drop = make('drop', put, remove, extra)
  local _, _, blocked = make 'block-value'
  local bytes = string.gsub(args[7], '..', function(digits)
    return string.char(tonumber(digits, 16))
  end)
  local ends, expires = args[8], args[9]
  if bytes == '' then drop(state, ends) else put(state, blocked(bytes, ends), math.max(ends, expires)) end
end
if args[10] ~= '-' and change > 0 then
  local list = math.floor(change / 64)
  call('ZREM', KEYS[5] .. ':' .. list, name)
  if call('EXISTS', KEYS[5] .. ':' .. list) == 0 then call('ZREM', KEYS[5], list) end
end
if args[10] == '' then
  call('HDEL', KEYS[4], name)
elseif args[10] ~= '-' then
  rows = number .. ' ' .. args[10]
  call('HSET', KEYS[4], name, rows)
  local list = math.floor(number / 64)
  call('ZADD', KEYS[5] .. ':' .. list, number, name)
  call('ZADD', KEYS[5], list, list)
end
if args[7] == '-' then return { run, now, begins, record, value, digest, rows } end
return number
