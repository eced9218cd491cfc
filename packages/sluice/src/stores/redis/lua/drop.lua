-- Where a state is no more, its block stays.
local function drop(key, ends)
  if ends > now then return put(key, block_value(ends), ends) end
  call('DEL', key)
end
