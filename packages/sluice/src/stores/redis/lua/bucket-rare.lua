-- What few buckets need, made when the first of them is met. A function that reaches for nothing outside costs the least to be there.

local function rare(now, pack, parse)
  -- include: bucket-value.lua
  -- include: bucket-flow.lua
  -- include: bucket-leases.lua
  -- include: bucket-adopt.lua
  return { read = read_bucket, value = bucket_value, adopt = adopt_bucket, settle = settle, expires = leased_until }
end
