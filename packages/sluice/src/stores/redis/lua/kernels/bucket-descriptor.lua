-- The limit refills n micro-tokens in m microseconds.
--
-- descriptor  the index in `args` of the first number of one of three forms:
--             0, n, m, burst, the cost in micro-tokens
--             4, n, m, burst, empty, empty_rest, cost, cost_rest: used if 2 * burst * m exceeds 2^53
--             5, the numbers of form 4, ahead, micro: for calls that may be charged before their tokens are there
-- empty       microseconds to fill an empty bucket, rounded up; empty_rest: the n-ths of a microsecond that this added
-- cost        microseconds to refill the cost, rounded down; cost_rest: the n-ths that this removed
-- ahead       how many microseconds early a call may be charged; micro: the cost in micro-tokens

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
