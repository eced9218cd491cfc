-- descriptor  1, cost, limit, window, align (0 clock, 1 first, 2 key), ramp, n, m, and where windows begin (microseconds)

-- Plans that take turns (algorithms/window-turns.ts). turn: 0 to 3: one plan alone (used up to 1/64, 1/16, 1/4, all of its
-- limit); 4: both; 5: the longer plan not yet called in this window; 6: as 5, and a longer plan finds nothing left.

local window_until = ...

-- The end of a window in which nothing was charged yet.
local function fresh_end(descriptor, time)
  local length = args[descriptor + 3]
  if args[descriptor + 4] == 1 then return time + length end
  local shifted = time - args[descriptor + 8]
  return shifted - shifted % length + length + args[descriptor + 8]
end

-- The state, converted to the plan: end (nil where it equals the initial state), count, window, turn, and whether it was converted.
local function adopt_window(finish, count, window, turn, descriptor)
  local length = args[descriptor + 3]
  if window == length and turn < 5 then return finish, count, window, turn, false end
  if now >= finish then
    if now >= window_until(finish, window, turn) then return nil end
    return finish, count, window, turn, false
  end
  if turn == 6 then
    if length <= window then return finish, count, window, turn, false end
    return finish, 9007199254740991, length, 4, true
  end
  if window == length then return finish, count, window, 4, true end
  if length < window and turn >= 4 then return finish, count, window, turn, false end
  local last = fresh_end(descriptor, now)
  if length > window and args[descriptor + 4] == 1 then
    last = finish - window + length
  elseif finish > last then
    last = finish
  end
  return last, count, math.max(window, length), 4, true
end

-- The window that begins now, after one that is remembered or over: its end, window and turn.
local function begun(finish, window, turn, descriptor)
  local length, own = args[descriptor + 3], fresh_end(descriptor, now)
  if not finish or now >= window_until(finish, window, turn) then return own, length, 0 end
  if length > window then return math.max(own, finish + window), length, 4 end
  if length < window and turn < 5 then return finish + window, window, 5 end
  if args[descriptor + 4] ~= 1 and own - length < finish then own = own + length end
  return own, length, 0
end

-- The part of the window of an absent longer plan that this is: its start, what was let through before it and taken in it; the window and turn,
-- which begin with it where counts end.
local function part_of(finish, count, window, turn, descriptor)
  local limit, length, part = args[descriptor + 2], args[descriptor + 3], 0
  if turn >= 5 and length < window then
    part = math.max(0, math.min(math.floor((now - finish + window) / length), math.floor(window / length) - 1))
  end
  local start, base = finish - window + part * length, part * limit
  local used = math.max(0, count - base)
  if turn == 6 or turn == 5 and base > 9007199254740991 - 2 * limit then return start, 0, used, finish - start, 6 end
  return start, base, used, window, turn
end

local function turn_of(turn, count, limit)
  if turn >= 4 then return turn end
  if count * 4 > limit then return 3 end
  return count * 16 > limit and 2 or count * 64 > limit and 1 or 0
end

return adopt_window, begun, part_of, turn_of
