-- Deletes a state, but not its block.

local put, remove, extra = ...
local _, block_value = make 'block-value'

return function(state, ends)
  if ends > now then return put(state, block_value(ends), ends) end
  -- The key must be kept for the time in ARGV[3] (state.lua). So it gets a value that is not a state: a block that ended in 1970.
  if extra > 0 then return put(state, block_value(1), now) end
  remove(state)
end
