-- descriptor  the index in `args` of the number 1 (the kind), cost, limit, window, align (0 clock, 1 first, 2 key), ramp, n, m, and the
--             offset at which windows begin (microseconds). In the first `ramp` microseconds of a window, the limit grows by n
--             micro-tokens in m microseconds

-- `turn`: which limits were called in the window. 0 to 3: only limits with windows of one length, which took up to a 64th, a 16th, a quarter
-- or all of the limit. 4: limits with different lengths. 5: so far only limits with shorter windows; each part of the window (as long as
-- theirs) admits their whole limit. 6: as 5, but the count became too large, and began again in one part.

local window_until = ...

-- Without a state: the end of the window of a charge at `time`.
local function fresh_end(descriptor, time)
  local length = args[descriptor + 3]
  if args[descriptor + 4] == 1 then return time + length end
  local shifted = time - args[descriptor + 8]
  return shifted - shifted % length + length + args[descriptor + 8]
end

-- Returns end (nil for the initial state), count, length, turn (see above), and whether the state was converted to the call's limit.
local function adopt_window(finish, count, window, turn, descriptor)
  local length = args[descriptor + 3]
  -- Turn below 5: the window is not divided into parts.
  if window == length and turn < 5 then return finish, count, window, turn, false end
  if now >= finish then
    if now >= window_until(finish, window, turn) then return nil end
    return finish, count, window, turn, false
  end
  -- Turn 6: the count began again, so a limit with a longer window finds no tokens left.
  if turn == 6 then
    if length <= window then return finish, count, window, turn, false end
    return finish, 9007199254740991, length, 4, true
  end
  -- Turn 4: limits with windows of different lengths.
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

-- Returns end, length and turn of the window that begins now.
local function begun(finish, window, turn, descriptor)
  local length, own = args[descriptor + 3], fresh_end(descriptor, now)
  if not finish or now >= window_until(finish, window, turn) then return own, length, 0 end
  -- Turn 4: limits with windows of different lengths.
  if length > window then return math.max(own, finish + window), length, 4 end
  -- Turn below 5: a limit with the longer window was called, so the new window is as long, and divided into parts (turn 5).
  if length < window and turn < 5 then return finish + window, window, 5 end
  if own - length < finish then own = own + length end
  return own, length, 0
end

-- Returns the start of the present part of the window, what counts as taken before the part, what was taken in it, window and turn. If the
-- count could exceed 2^53 - 1, and so be inexact, the window begins with this part, and the returned turn is 6 (the count began again).
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

-- From 4 on (limits with windows of different lengths) `turn` stays.
local function turn_of(turn, count, limit)
  if turn >= 4 then return turn end
  if count * 4 > limit then return 3 end
  return count * 16 > limit and 2 or count * 64 > limit and 1 or 0
end

return adopt_window, begun, part_of, turn_of
