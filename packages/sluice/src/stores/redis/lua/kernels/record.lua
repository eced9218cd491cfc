-- Makes the record of a hold (algorithms/hold-record.ts). The record is the last call of its group.
--
-- descriptor  the index of 6; how many microseconds the hold lasts; 1 if the record begins as settled, otherwise 0; how many calls of the
--             group, just before the record, it records; for each of them the name of its limit, and the micro-tokens that are held

local read_record, record_value = make 'record-value'
local split = make 'block-value'

-- Decides the call that makes a record. `times` says how often the call is made; a record is made once at most. Returns 0 if `times` is 0 or
-- the record exists already. Otherwise it returns 1, the value of the record, and the instant until which the store must keep it. `marks`
-- has a number for each earlier call of the group, in order. The algorithm of that call needs it to settle the hold; 0 if it needs none.
return function(value, descriptor, times, _, marks)
  local _, ends = read_record(value)
  if times == 0 or ends and now < ends + 60000000 then return 0 end
  -- A newer version of Sluice wrote the value.
  if value and split(value) > now then return 0 end
  local count, parts = args[descriptor + 3], {}
  for index = 1, count do
    local name, held = args[descriptor + 2 + 2 * index], args[descriptor + 3 + 2 * index]
    parts[index] = { name, held, held, 0, marks and marks[#marks - count + index] or 0 }
  end
  local expires = now + args[descriptor + 1]
  return 1, record_value(now, expires, args[descriptor + 2], parts), expires + 60000000
end
