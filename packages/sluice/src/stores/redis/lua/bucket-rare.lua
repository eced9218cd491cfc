-- What few buckets need, made when the first of them is met.

local made

local function rare()
  if made then return made end
  -- include: bucket-value.lua
  -- include: bucket-flow.lua
  -- include: bucket-leases.lua
  -- include: bucket-adopt.lua
  made = { read = read_bucket, value = bucket_value, adopt = adopt_bucket, settle = settle, expires = leased_until }
  return made
end
