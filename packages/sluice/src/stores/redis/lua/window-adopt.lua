-- row         1, cost, limit, window, align (0 clock, 1 first, 2 key), ramp, n, m, and where windows begin (microseconds)

-- The end of a window in which nothing was charged yet.
local function fresh_end(row, time)
  local length = asked[row + 3]
  if asked[row + 4] == 1 then return time + length end
  local shifted = time - asked[row + 8]
  return shifted - shifted % length + length + asked[row + 8]
end

-- The state in the plan's unit: end (nil where it is as fresh as none), count, window, and whether it was converted.
local function adopt_window(finish, count, window, row)
  local length = asked[row + 3]
  if window >= length then return finish, count, window, false end
  if now >= finish then return nil end
  if asked[row + 4] == 1 then return finish - window + length, count, length, true end
  local fresh = fresh_end(row, now)
  if finish > fresh then fresh = finish end
  return fresh, count, length, true
end
