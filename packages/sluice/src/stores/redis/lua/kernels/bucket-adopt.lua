-- Converts a bucket to a changed limit (law 7): it keeps its tokens, capped at the new burst.

local flow, cut, level_of, owed_span, latest_zero, out_on, settle = ...

-- Returns zero, rest, seen, keep_for and leases (bucket-value.lua). zero is nil if the bucket equals the initial state.
local function adopt_bucket(zero, rest, seen, keep_for, old_n, old_m, old_burst, n, m, burst, leases)
  local time = now
  if seen > now then time = seen end
  if leases then
    zero, rest, leases = settle(zero, rest, old_n, old_m, old_burst, leases, time)
  end
  local full, full_rest = flow(old_n, old_m, old_burst, 0)
  local fresh, fresh_rest = flow(old_n, old_m, old_burst, rest)
  local ends = zero + fresh
  if fresh_rest > 0 then ends = ends + 1 end
  if keep_for > 0 then ends = math.max(ends, math.max(seen, zero) + keep_for) end
  if ends <= time then return nil end
  local longest = full
  if full_rest > 0 then longest = full + 1 end
  zero, rest = cut(zero, rest, old_n, old_m, old_burst, time)
  -- Only a level that is not negative can be converted. So a bucket below empty first gets whole tokens (`debt`), which are taken out again
  -- at the new rate.
  local debt = 0
  if zero > time or (zero == time and rest > 0) then
    local token = old_m * 1000000
    local token_rest = token % old_n
    debt = math.min(9007199256, math.floor((zero - time + 1) / ((token - token_rest) / old_n + token_rest / old_n)) + 1)
    local put, put_rest = owed_span(old_n, old_m, debt)
    zero, rest = zero - put, rest - put_rest
    if rest < 0 then zero, rest = zero - 1, rest + old_n end
  end
  local micro, parts
  micro, zero, rest, parts = level_of(zero, rest, old_n, old_m, time)
  local part = (time - zero) * old_n - rest - parts * old_m
  local extra = 0
  if debt == 0 and micro >= burst then
    micro = burst
  elseif part > 0 then
    -- floor(part * m / old_m), in two parts because the product may exceed 2^53.
    local half = m % 131072
    local one = part * ((m - half) / 131072)
    local carried = (one % old_m) * 131072 + part * half
    extra = (one - one % old_m) / old_m * 131072 + (carried - carried % old_m) / old_m
  end
  local span, span_rest = flow(n, m, micro, 0)
  local behind = span_rest + extra
  if keep_for > longest then longest = keep_for end
  zero, rest = time - span - (behind + (-behind) % n) / n, (-behind) % n
  if debt > 0 then
    local owed, owed_rest = owed_span(n, m, debt)
    zero, rest = zero + owed, rest + owed_rest
    if rest >= n then zero, rest = zero + 1, rest - n end
  end
  local latest = latest_zero(n, m, burst, time)
  if zero > latest or (zero == latest and rest > 0) then zero, rest = latest, 0 end
  if leases then
    zero, rest = cut(zero, rest, n, m, burst - out_on(leases), time)
  end
  return zero, rest, time, longest, leases
end

return adopt_bucket
