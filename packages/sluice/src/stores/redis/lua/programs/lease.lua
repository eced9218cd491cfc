-- Grants, renews and settles leases: tokens of a bucket that a process takes in advance (`grantLease` in algorithms/leased-bucket.ts).
--
-- KEYS        the bucket of each request
-- ARGV[1]     a JSON array: time; how many numbers each request has; for each request the rate (n micro-tokens in m microseconds),
--             burst, least amount, most, holder, the request's number among those of the holder (sequence), microseconds that the lease
--             lasts (life), how many leased tokens the holder keeps, and how many it returns. Burst and amounts are micro-tokens. A request
--             that is not newer than the lease is ignored
-- returns     the text of reply.lua: the buckets as found, no counts, the granted amounts, the time

-- include: clock.lua

-- modules

local read, put, _, remove, extra = make 'strings'
local drop = make('drop', put, remove, extra)
local bucket = make 'bucket'
local flow, cut, level_of, out_on = bucket.flow, bucket.cut, bucket.level_of, bucket.out_on

local MAX_HOLDERS = 64

local function with(leases, lease)
  local before = #leases + 1
  for index, other in ipairs(leases) do
    if other[4] > lease[4] then
      before = index
      break
    end
  end
  table.insert(leases, before, lease)
  return leases
end

local function grant(state, value, at)
  local n, m, burst = args[at], args[at + 1], args[at + 2]
  local least, most, holder, sequence, life = args[at + 3], args[at + 4], args[at + 5], args[at + 6], args[at + 7]
  local time, ends = now, 0
  local zero, rest, seen, keep_for, leases, changed
  if value then
    local old_n, old_m, old_burst
    zero, rest, seen, keep_for, old_n, old_m, old_burst, ends, leases = bucket.read(value, 0)
    if zero and (old_n ~= n or old_m ~= m or old_burst ~= burst) then
      zero, rest, seen, keep_for, leases = bucket.adopt(zero, rest, seen, keep_for, old_n, old_m, old_burst, n, m, burst, leases)
      changed = true
    end
    if zero and seen > now then time = seen end
  end
  if ends > now then most = 0 end
  local others, own = {}, nil
  local stale = false
  if leases then
    local settled_zero, settled_rest, settled = bucket.settle(zero, rest, n, m, burst, leases, time)
    for _, lease in ipairs(settled or {}) do
      if lease[1] == holder then own = lease else others[#others + 1] = lease end
    end
    stale = own and sequence <= own[2]
    if not stale then zero, rest, leases, changed = settled_zero, settled_rest, settled, true end
  end
  local granted = 0
  if not stale then
    local kept, returned, until_when = 0, 0, time + life
    if own then
      kept = math.min(args[at + 8], own[3])
      returned = math.min(args[at + 9], own[3] - kept)
      until_when = math.max(until_when, own[4])
      local back, left = flow(n, m, returned, 0)
      rest = rest - left
      if rest < 0 then back, rest = back + 1, rest + n end
      local out = out_on(others) + kept
      zero, rest = cut(zero - back, rest, n, m, burst - out, time)
      if seen < time then seen = time end
      leases = others
    end
    local level = 0
    if most >= least and (own or #others < MAX_HOLDERS) then
      level = burst
      if zero then
        local full_zero, full_rest = cut(zero, rest, n, m, burst, time)
        level = level_of(full_zero, full_rest, n, m, time)
      end
    end
    if level >= least then granted = math.min(most, level) end
    if granted > 0 then
      local low, low_rest = cut(-math.huge, 0, n, m, burst, time)
      if not zero then
        zero, rest, keep_for = low, low_rest, 0
      elseif zero < low or (zero == low and rest <= low_rest) then
        if keep_for > 0 and time >= math.max(seen, zero) + keep_for then keep_for = 0 end
        zero, rest = low, low_rest
      end
      local span, left = flow(n, m, granted, rest)
      zero, rest, seen = zero + span, left, time
    end
    if kept + granted > 0 then leases = with(others, { holder, sequence, kept + granted, until_when }) end
    changed = changed or granted > 0
  end
  if changed then
    if leases and #leases == 0 then leases = nil end
    if not zero then
      drop(state, ends)
    else
      local expires = bucket.expires(zero, rest, seen, keep_for, n, m, burst, leases or {})
      if ends > expires then expires = ends end
      put(state, bucket.value(zero, rest, seen, keep_for, n, m, burst, ends, leases), expires)
    end
  end
  return granted
end

local values, numbers, counts = {}, {}, {}
for index = 1, #KEYS do
  values[index] = read(index)
  numbers[index] = grant(index, values[index], 3 + (index - 1) * args[2])
end
-- inline: reply.lua
