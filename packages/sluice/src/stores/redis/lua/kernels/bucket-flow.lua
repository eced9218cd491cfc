-- Returns how long it takes to refill `micro` micro-tokens, at n in m microseconds: whole microseconds, and n-ths of a microsecond. `from`
-- n-ths are added.
local function flow(n, m, micro, from)
  local token = m * 1000000
  local token_rest, micro_rest = token % n, m % n
  local parts = micro % 1000000
  local tokens = (micro - parts) / 1000000
  local sum = from + tokens * token_rest + parts * micro_rest
  local left = sum % n
  return tokens * ((token - token_rest) / n) + parts * ((m - micro_rest) / n) + (sum - left) / n, left
end

-- Returns how many times `unit` micro-tokens are refilled in `span` microseconds less `from` n-ths. The floating-point guess is a little
-- too low; exact comparisons correct it.
local function pieces(n, m, unit, from, span)
  local count = 0
  if span <= 0 then return count end
  local guess = (span - from / n) / (m * unit / n) * (1 - 2 ^ -50)
  if guess > 0 then count = guess - guess % 1 end
  while true do
    local micros, left = flow(n, m, (count + 1) * unit, from)
    if micros > span or (micros == span and left > 0) then return count end
    count = count + 1
  end
end

-- Caps a bucket to `micro` micro-tokens at the instant `time`. zero and rest say when it was last empty: microseconds, and n-ths of a
-- microsecond.
local function cut(zero, rest, n, m, micro, time)
  if micro < 0 then micro = 0 end
  local span, left = flow(n, m, micro, 0)
  local low, low_rest = time - span, 0
  if left > 0 then low, low_rest = low - 1, n - left end
  if zero > low or (zero == low and rest >= low_rest) then return zero, rest end
  return low, low_rest
end

-- Returns the micro-tokens of a bucket at `time`; its zero and rest after all whole tokens are taken out; and the micro-tokens that are
-- left then.
local function level_of(zero, rest, n, m, time)
  local tokens = pieces(n, m, 1000000, rest, time - zero)
  local micros, left = flow(n, m, tokens * 1000000, rest)
  zero, rest = zero + micros, left
  local parts = pieces(n, m, 1, rest, time - zero)
  return tokens * 1000000 + parts, zero, rest, parts
end

-- Returns how long it takes to refill this many whole tokens, as `flow` does for micro-tokens. `tokens * rest` may exceed 2^53, so the
-- product is computed in two parts.
local function owed_span(n, m, tokens)
  local token = m * 1000000
  local rest = token % n
  local half = rest % 131072
  local one = tokens * ((rest - half) / 131072)
  local first = one % n
  local carried = first * 131072 + tokens * half
  local left = carried % n
  return tokens * ((token - rest) / n) + (one - first) / n * 131072 + (carried - left) / n, left
end

-- The latest `zero` of a bucket below empty, as `bounded` of algorithms/token-bucket.ts computes it: a debt is refilled within a hundred
-- years.
local function latest_zero(n, m, burst, time)
  return math.min(time + 3155760000000000, 9007199254740990 - (flow(n, m, burst, 0)))
end

return flow, cut, level_of, owed_span, latest_zero
