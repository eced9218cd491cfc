-- descriptor  an index in `args`. There stand, in order: the number 6, which marks a record; microseconds that the hold lasts; 1 if the
--             record begins as settled, else 0; how many calls of the group, just before the record, it records; for each of them the
--             name of its limit, and the micro-tokens held

local read_record, record_value = make 'record-value'
local split = make 'block-value'

-- Returns 0 if nothing is charged (`times` is 0) or the record exists (until a minute after its end); else 1, the value, and until when it
-- must be kept. `marks` has, for each earlier call of the group, a number that its algorithm needs to settle the hold; 0 for none.
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
