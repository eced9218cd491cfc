-- Leases of a bucket: tokens that processes took in advance. They are a list of { holder, sequence, amount, end }, ordered by end. The
-- tokens in the bucket and the leased tokens together never exceed the burst.

local flow, cut = ...

local function out_on(leases)
  local out = 0
  for _, lease in ipairs(leases) do out = out + lease[3] end
  return out
end

-- Removes the leases that have ended at `time`. Returns three values: `zero` and `rest` of the bucket, and the list of the other leases,
-- nil if there are none.
local function settle(zero, rest, n, m, burst, leases, time)
  local out, left = out_on(leases), {}
  for _, lease in ipairs(leases) do
    if lease[4] <= time and #left == 0 then
      zero, rest = cut(zero, rest, n, m, burst - out, lease[4])
      out = out - lease[3]
    else
      left[#left + 1] = lease
    end
  end
  if #left == 0 then return zero, rest, nil end
  zero, rest = cut(zero, rest, n, m, burst - out, time)
  return zero, rest, left
end

-- From this instant on all leases have ended and the bucket is full, so that the store may forget it.
local function leased_until(zero, rest, seen, keep_for, n, m, burst, leases)
  local out, kept = out_on(leases), math.min(math.max(seen, zero) + keep_for, 9007199254740991)
  for _, lease in ipairs(leases) do
    zero, rest = cut(zero, rest, n, m, burst - out, lease[4])
    out = out - lease[3]
  end
  local micros, left = flow(n, m, burst, rest)
  local expires = zero + micros
  if left > 0 then expires = expires + 1 end
  if keep_for > 0 and kept > expires then expires = kept end
  return expires
end

return out_on, settle, leased_until
