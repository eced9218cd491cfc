-- If a state is deleted, its block stays.

local put, remove, extra = ...
local _, block_value = make 'block-value'

return function(state, ends)
  if ends > now then return put(state, block_value(ends), ends) end
  -- A block that ended long ago is not a state, and keeps the key known.
  if extra > 0 then return put(state, block_value(1), now) end
  remove(state)
end
