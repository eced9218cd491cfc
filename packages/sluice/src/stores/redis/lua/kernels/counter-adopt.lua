-- descriptor  2, cost, limit, window, quantum

-- Returns three values of a sliding window counter: when the current window ends, what was charged in it, and what was charged in the
-- previous window. After a window has ended, its charges count as those of the previous window for one more length.
local function rolled(finish, current, previous, length)
  if finish and now < finish then return finish, current, previous end
  if not finish or now >= finish + length then return now - now % length + length, 0, 0 end
  return finish + length, 0, current
end

-- Converts a counter to the limit of the call. Returns end (nil if the counter equals the initial state), current, previous, window,
-- absent, and whether it was converted. `absent` is 1 if the window has the length of a longer limit of the key, but no call in this window
-- had that limit.
local function adopt_counter(finish, current, previous, window, absent, descriptor)
  local length = args[descriptor + 3]
  if window == length then
    if absent == 0 or now >= finish then return finish, current, previous, window, absent, false end
    return finish, current, previous, window, 0, true
  end
  if window > length and now < finish then return finish, current, previous, window, absent, false end
  finish, current, previous = rolled(finish, current, previous, window)
  if window > length and absent == 0 then
    if previous == 0 then return nil end
    return finish, current, previous, window, 1, true
  end
  finish = finish - window + length
  if now >= finish or current + previous == 0 then return nil end
  return finish, current, previous, length, 0, true
end

-- How many micro-tokens of the previous window still count: ceil(previous * left / quanta). `left` is how many of the window's `quanta`
-- equal steps are still to come. The product is computed in parts, because it may exceed 2^53.
local function share(finish, previous, window, descriptor)
  if previous == 0 then return 0 end
  local quantum = args[descriptor + 4]
  if window ~= args[descriptor + 3] then
    quantum = 1
    while window / quantum > 1000000 do quantum = quantum * 10 end
  end
  local quanta = math.floor(window / quantum)
  local left = math.min(quanta, math.ceil((finish - now) / quantum))
  local tokens = math.floor(previous / 1000000)
  local product = tokens * left
  local whole = math.floor(product / quanta)
  local rest = (product - whole * quanta) * 1000000 + (previous - tokens * 1000000) * left
  return whole * 1000000 + math.ceil(rest / quanta)
end

return adopt_counter, rolled, share
