-- descriptor  one of three forms; the first number says which:
--             0, n, m, burst, cost
--             4, n, m, burst, empty, empty_rest, cost, cost_rest: if products of these numbers would exceed 2^53. A bucket that is full now
--             was empty `empty` microseconds before now, plus `empty_rest` n-ths of a microsecond. The cost is refilled in `cost`
--             microseconds and `cost_rest` n-ths of a microsecond
--             5, the same as after 4; then how many microseconds before its tokens are there a call may be charged; then the cost in
--             micro-tokens

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
