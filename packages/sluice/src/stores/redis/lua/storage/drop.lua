-- Deletes a state, but not its block.

local put, remove, extra = ...
local _, block_value = make 'block-value'

return function(state, ends)
  if ends > now then return put(state, block_value(ends), ends) end
  -- The key must exist for `extra` microseconds more (state.lua), so it gets a block that ended in 1970.
  if extra > 0 then return put(state, block_value(1), now) end
  remove(state)
end
