-- Deletes a state, but not its block.

local put, remove, extra = ...
local _, block_value = make 'block-value'

return function(state, ends)
  if ends > now then return put(state, block_value(ends), ends) end
  -- The key must stay known (ARGV[3] of state.lua). A block that ended long ago keeps it, and is not a state.
  if extra > 0 then return put(state, block_value(1), now) end
  remove(state)
end
