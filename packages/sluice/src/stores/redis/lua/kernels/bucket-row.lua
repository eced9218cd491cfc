-- row         0, n, m, burst, cost; or, where these would pass 2^53 when multiplied, 4, n, m, burst, how long an empty bucket takes to be
--             full (whole microseconds back, and n-ths of one forward again), and the cost as a length of time (the same, but forward)

local n, m, burst = args[row + 1], args[row + 2], args[row + 3]
local empty, empty_rest, cost, cost_rest = args[row + 4], args[row + 5], args[row + 6], args[row + 7]
if args[row] == 0 then
  local parts = empty * m
  cost_rest = parts % n
  cost = (parts - cost_rest) / n
  parts = burst * m
  empty_rest = -parts % n
  empty = (parts + empty_rest) / n
end
