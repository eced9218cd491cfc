-- descriptor  the index in `args` of the first of five numbers: 2 (a sliding-window counter), cost, limit, window, and the quantum, in
--             which `share` counts the rest of the window (all times in microseconds)

-- Returns the end of the current window, its charges, and those of the previous window. An ended window is the previous one for one more
-- length.
local function rolled(finish, current, previous, length)
  if finish and now < finish then return finish, current, previous end
  if not finish or current == 0 or now >= finish + length then return now - now % length + length, 0, 0 end
  return finish + length, 0, current
end

-- Returns end (nil if the counter equals the initial state), current, previous, window, absent (1: in the current window only limits with
-- shorter windows were called so far), and whether they were converted to the call's limit.
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

-- The micro-tokens of the previous window that still count: ceil(previous * left / quanta), in steps because the product may exceed 2^53.
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
