-- Tokens of a bucket that are out on lease (algorithms/leased-bucket.ts): { holder, sequence, amount, end }, the one that ends first in
-- front. Bucket and leases are never more than the burst, so the bucket is cut to what they leave.

local flow, cut = ...

local function out_on(leases)
  local out = 0
  for _, lease in ipairs(leases) do out = out + lease[3] end
  return out
end

-- The bucket at a time, and the leases that have not ended; nil for none. Each ended one is let go at its end.
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

-- Until when such a bucket is needed: it is full when every lease has ended and the last tokens have flowed in.
local function leased_until(zero, rest, seen, keep_for, n, m, burst, leases)
  local out = out_on(leases)
  for _, lease in ipairs(leases) do
    zero, rest = cut(zero, rest, n, m, burst - out, lease[4])
    out = out - lease[3]
  end
  local micros, left = flow(n, m, burst, rest)
  local expires = zero + micros
  if left > 0 then expires = expires + 1 end
  if keep_for > 0 and seen + keep_for > expires then expires = seen + keep_for end
  return expires
end

return out_on, settle, leased_until
