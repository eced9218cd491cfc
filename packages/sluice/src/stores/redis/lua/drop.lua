-- Where a state is no more, its block stays.
local function drop(state, ends)
  if ends > now then return put(state, block_value(ends), ends) end
  remove(state)
end
