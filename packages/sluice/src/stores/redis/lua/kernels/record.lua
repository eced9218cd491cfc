-- Makes the record of a hold (algorithms/hold-record.ts), as the last call of a group.
--
-- descriptor  6; the microseconds for which the hold lasts; 1 if the record begins as settled, otherwise 0; the number of calls just before
--             it in the group that it records; for each of these the name of its limit and the micro-tokens that are held

local read_record, record_value = make 'record-value'
local split = make 'block-value'

-- Decides the call of a record. Returns 0 if `times` is 0 or the record exists already, otherwise 1, the value of the record, and the
-- instant until which it is needed. `marks` has the marks (hold-record.ts) of all earlier calls of its group, in order.
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
