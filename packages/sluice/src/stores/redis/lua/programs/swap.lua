-- Reads states and the digests of their values, or writes states if all values still have the digests that were read.
--
-- KEYS        the states, each once
-- ARGV[1]     a JSON array: time. To write also, for each state: the digest that was read, empty for none; the new value in hexadecimal
--             digits (a log's with the end of its block), empty for none; the end of the block, 0 for none; the instant until which the
--             state must be kept
-- returns     to read: the values, nil for none; their digests; time. To write: 1, or 0 if a value has changed

-- include: clock.lua

-- modules

local read, put = make 'state'
local states = #KEYS
local found = {}
for state = 1, states do
  local value = read(state)
  found[state], found[states + state] = value, value and redis.sha1hex(value) or ''
end
if #args == 1 then
  found[2 * states + 1] = now
  return found
end
for state = 1, states do
  if found[states + state] ~= args[4 * state - 2] then return 0 end
end
local _, block_value, blocked = make 'block-value'
-- A change by others must not leave the value that the caller read. So a written state stays for at least two seconds (KEPT_MS), longer
-- than an attempt lasts. A deleted one leaves a block that ended in 1970, at another instant each time.
local noticed, past = now + 2000000, 1 + now % 1000000000
for state = 1, states do
  local value = string.gsub(args[4 * state - 1], '..', function(digits)
    return string.char(tonumber(digits, 16))
  end)
  local ends, expires = args[4 * state], args[4 * state + 1]
  if value == '' then
    put(state, block_value(ends > now and ends or past), math.max(ends, noticed))
  else
    -- The value of a log already contains the instant until which its key is blocked.
    if string.byte(value) ~= 2 then value = blocked(value, ends) end
    put(state, value, math.max(ends, expires, noticed))
  end
end
return 1
