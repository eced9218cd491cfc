-- Makes the reply of a program that decides. It is a text, because a server sends a text faster than a table. It has:
-- - a byte: how many bytes each count and each length has (1 or 4);
-- - for each state the length of its value, 0 for none;
-- - the counts that the program's header describes;
-- - the values, then the numbers of that header, then the time. Each number and the time have 7 bytes.
--
-- arguments   values by state; counts; numbers; now

local widest, states = 0, #KEYS
local heads = {}
for state = 1, states do
  values[state] = values[state] or ''
  heads[state] = #values[state]
end
for part = 1, #counts do heads[states + part] = counts[part] end
for index = 1, #heads do
  if heads[index] > widest then widest = heads[index] end
end
local head
if widest < 256 and #heads <= 2000 then
  head = string.char(1, unpack(heads))
else
  for index = 1, #heads do heads[index] = pack('>I4', heads[index]) end
  head = string.char(4) .. table.concat(heads)
end
for index = 1, #numbers do numbers[index] = pack('>I7', numbers[index]) end
return head .. table.concat(values, '', 1, states) .. table.concat(numbers) .. pack('>I7', now)
