-- Records of holds (algorithms/hold-record.ts): whether one may be made, its value, and until when it is needed.
--
-- descriptor  6, for how long it is held (microseconds), 1 where nothing is to be settled or 0, how many calls before it it records, and for each
--             its name and what is held

local read_record, record_value = make 'record-value'
local split = make 'block-value'

-- `marks` has the marks of all calls before it in its group, in order.
return function(value, descriptor, times, _, marks)
  local _, ends = read_record(value)
  if times == 0 or ends and now < ends + 60000000 then return 0 end
  -- Of a newer version.
  if value and split(value) > now then return 0 end
  local count, parts = args[descriptor + 3], {}
  for index = 1, count do
    local name, held = args[descriptor + 2 + 2 * index], args[descriptor + 3 + 2 * index]
    parts[index] = { name, held, held, 0, marks and marks[#marks - count + index] or 0 }
  end
  local expires = now + args[descriptor + 1]
  return 1, record_value(now, expires, args[descriptor + 2], parts), expires + 60000000
end
