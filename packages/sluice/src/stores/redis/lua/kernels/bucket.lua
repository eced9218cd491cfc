-- Made at the first bucket that bucket-step.lua cannot decide.

local read, value = make 'bucket-value'
local flow, cut, level_of, owed_span, latest_zero = make 'bucket-flow'
local out_on, settle, expires = make('bucket-leases', flow, cut)
local adopt = make('bucket-adopt', flow, cut, level_of, owed_span, latest_zero, out_on, settle)

return {
  read = read,
  value = value,
  flow = flow,
  cut = cut,
  level_of = level_of,
  latest_zero = latest_zero,
  out_on = out_on,
  settle = settle,
  expires = expires,
  adopt = adopt,
}
