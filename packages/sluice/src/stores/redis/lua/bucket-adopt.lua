-- A bucket in a changed plan's unit (law 7): what the old plan would have left, cut to the new burst. a % n is exact for whole numbers
-- below 2^53, and so is (a - a % n) / n, the rounded-down quotient.

-- zero (nil where it is as fresh as none), rest, seen, hold
local function adopt_bucket(zero, rest, seen, hold, old_n, old_m, old_burst, n, m, burst)
  -- When micro-tokens that start to flow in at `from` have done so: microseconds and the new rest.
  local function flow(at_n, at_m, micro, from)
    local token = at_m * 1000000
    local token_rest, micro_rest = token % at_n, at_m % at_n
    local parts = micro % 1000000
    local tokens = (micro - parts) / 1000000
    local sum = from + tokens * token_rest + parts * micro_rest
    local left = sum % at_n
    return tokens * ((token - token_rest) / at_n) + parts * ((at_m - micro_rest) / at_n) + (sum - left) / at_n, left
  end
  -- How many pieces of `unit` micro-tokens have flowed in after `span` microseconds less `from`: a guess in doubles, a share too low,
  -- made exact by comparing.
  local function pieces(unit, from, span)
    local count = 0
    local guess = (span - from / old_n) / (old_m * unit / old_n) * (1 - 2 ^ -50)
    if guess > 0 then count = guess - guess % 1 end
    while true do
      local micros, left = flow(old_n, old_m, (count + 1) * unit, from)
      if micros > span or (micros == span and left > 0) then return count end
      count = count + 1
    end
  end

  -- What no plan can be is no state: its numbers would not stay whole.
  if old_n < 1 or old_m < 1 or old_burst < 1 or rest >= old_n or old_m > 9007199254 then return nil end
  if old_n * (old_burst / 1000000 + 2) > 9007199254740992 or old_burst / old_n * old_m > 3200000000000000 then return nil end
  if zero > 9007199254740992 or seen > 9007199254740992 or hold > 3200000000000000 then return nil end
  local time = now
  if seen > now then time = seen end
  local full, full_rest = flow(old_n, old_m, old_burst, 0)
  local fresh, fresh_rest = flow(old_n, old_m, old_burst, rest)
  local ends = zero + fresh
  if fresh_rest > 0 then ends = ends + 1 end
  if hold > 0 and seen + hold > ends then ends = seen + hold end
  if ends <= time then return nil end
  local longest = full
  if full_rest > 0 then longest = full + 1 end
  -- Never further back than a full bucket.
  local low, low_rest = time - longest, 0
  if full_rest > 0 then low_rest = old_n - full_rest end
  if zero < low or (zero == low and rest < low_rest) then zero, rest = low, low_rest end
  local tokens = 0
  if time > zero then tokens = pieces(1000000, rest, time - zero) end
  local micros, left = flow(old_n, old_m, tokens * 1000000, rest)
  zero, rest = zero + micros, left
  local parts = 0
  if time > zero then parts = pieces(1, rest, time - zero) end
  local micro = tokens * 1000000 + parts
  local part = (time - zero) * old_n - rest - parts * old_m
  local extra = 0
  if micro >= burst then
    micro = burst
  elseif part > 0 then
    -- floor(part * m / old_m), exact though the product passes 2^53: m is taken in two halves.
    local half = m % 131072
    local one = part * ((m - half) / 131072)
    local carried = (one % old_m) * 131072 + part * half
    extra = (one - one % old_m) / old_m * 131072 + (carried - carried % old_m) / old_m
  end
  local span, span_rest = flow(n, m, micro, 0)
  local behind = span_rest + extra
  if hold > longest then longest = hold end
  return time - span - (behind + (-behind) % n) / n, (-behind) % n, time, longest
end
