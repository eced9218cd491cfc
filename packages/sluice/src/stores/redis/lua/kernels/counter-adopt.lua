-- descriptor  2, cost, limit, window, quantum

-- The end of the window that is current now, what was charged in it, and what was charged in the previous window. A window that has ended
-- is the previous one for the length of one more window.
local function rolled(finish, current, previous, length)
  if finish and now < finish then return finish, current, previous end
  if not finish or now >= finish + length then return now - now % length + length, 0, 0 end
  return finish + length, 0, current
end

-- The state, converted to the plan: end (nil if it equals the initial state), current, previous, window, absent, and whether it was
-- converted.
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

-- How many of the previous window's micro-tokens still count: ceil(previous * left / quanta), computed in parts that stay below 2^53.
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
