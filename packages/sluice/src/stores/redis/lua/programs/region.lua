-- Reads or replaces, by compare-and-set, the region's record and one cell: the state of a key, and its rows.
-- docs/decisions/0034-regions-on-redis.md explains these words.
--
-- KEYS        `region` (run and change number of the record), `region:record` (the rest), `region:changes`, `region:rows` and
--             `region:cells`; then, for a cell, its state
-- ARGV[1]     a JSON array: time. To write, also: run and value of `region`, as a read returned them; the new record, empty to leave it.
--             For a cell, then: the digest of the state and the number of the rows' last change, as read; the new state in hexadecimal
--             digits; until when the key is blocked, 0 for none; until when the state must be kept; the new rows; the most cells. New
--             state and rows are empty for none, and `-` to leave what is there. A state that is left is not compared
-- returns     the number of this change; 0 if there is no room for another cell. After a read, if nothing is written because something has
--             changed, or if a write leaves the cell's state, instead: the server's run, time, value of `region`, rest of the record,
--             state, digest of the state, rows; nil for what is missing

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

-- The run (one life of the server's data) is that of the record, if this server wrote the record. Otherwise it is the one that the call
-- read before and proposes, or a new one.
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
