local expanded, extra = ...
local split = make 'block-value'
local state_until = make 'state-until'

return function(key)
  -- All members, or 128 random ones if there are more.
  local all = call('HRANDFIELD', key, 128, 'WITHVALUES')
  local head = call('HGET', key, '')
  for index = 1, #all, 2 do
    local value = expanded(all[index + 1], head)
    local ends = split(value)
    if all[index] ~= '' and (state_until(value) or 0) + extra <= now and ends + extra <= now then call('HDEL', key, all[index]) end
  end
end
