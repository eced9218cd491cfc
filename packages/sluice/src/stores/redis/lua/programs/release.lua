-- Gives back slots of concurrency limits, one holder after the other.
--
-- KEYS        the state of each holder's slot
-- ARGV[1]     a JSON array: the time, then for each holder its id as two numbers
-- returns     the indexes of holders whose slots were not given back, because a newer version of Sluice wrote their states

-- include: clock.lua

-- modules

local read, put, _, remove, extra = make 'state'
local drop = make('drop', put, remove, extra)
local split = make 'block-value'
local _, release = make 'slots'

local newer = {}
for state = 1, #KEYS do
  local value = read(state)
  if value and split(value) == 9000000000000000 then
    newer[#newer + 1] = state
  else
    local left, expires = release(value, args[2 * state], args[2 * state + 1])
    if left then put(state, left, expires) elseif left == false then drop(state, expires) end
  end
end
return newer
