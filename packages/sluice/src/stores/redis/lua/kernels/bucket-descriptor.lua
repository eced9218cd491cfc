-- descriptor  0, n, m, burst, cost; or, where these would pass 2^53 when multiplied, 4, n, m, burst, how long an empty bucket takes to be
--             full (whole microseconds back, and n-ths of one forward again), and the cost as a length of time (the same, but forward);
--             or 5, the same, for how many microseconds before its tokens are there a call is charged, and the cost

local n, m, burst = args[descriptor + 1], args[descriptor + 2], args[descriptor + 3]
local empty, empty_rest, cost, cost_rest = args[descriptor + 4], args[descriptor + 5], args[descriptor + 6], args[descriptor + 7]
if args[descriptor] == 0 then
  local parts = empty * m
  cost_rest = parts % n
  cost = (parts - cost_rest) / n
  parts = burst * m
  empty_rest = -parts % n
  empty = (parts + empty_rest) / n
end
