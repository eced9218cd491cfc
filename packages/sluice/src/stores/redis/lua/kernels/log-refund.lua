local logs, drop, put = ...
local entry, through, HEAD, ENTRY, TURN = logs.entry, logs.through, logs.HEAD, logs.ENTRY, logs.TURN

-- Takes taken[index] out of each entry from `start` on; an amount below 0 is added.
local function rewrite(log, start, taken)
  local tail, sum = {}, (log.base + through(log, start - 1)) % TURN
  for index = start, log.size - 1 do
    local rest = through(log, index) - through(log, index - 1) - (taken[index] or 0)
    if rest > 0 then
      sum = (sum + rest) % TURN
      tail[#tail + 1] = { (entry(log, index)), sum }
    end
  end
  local ahead = start
  if #tail == 0 then
    if start == log.skip then return drop(log.state, log.ends) end
    -- The newest entry, now the one before `start`, is stored in the head of the value.
    ahead = start - 1
    log.at, log.sum = entry(log, ahead)
  else
    log.at, log.sum = unpack(tail[#tail])
  end
  local body = ''
  if ahead > log.skip then body = call('GETRANGE', KEYS[log.state], HEAD + log.skip * ENTRY, HEAD + ahead * ENTRY - 1) end
  for index = 1, #tail - 1 do body = body .. pack('>I7I7', tail[index][1], tail[index][2]) end
  put(log.state, logs.head(log, 0) .. body, logs.expires(log))
end

-- With a receipt (the instant of a charge), the entry of that instant and later ones are reduced; without one (-1), the newest first.
-- Entries up to `oldest` have left the window. Returns how much was given back.
local function refund(log, first, oldest, amount, receipt)
  local left, start, taken = amount, log.size, {}
  local function take(index)
    local part = through(log, index) - through(log, index - 1)
    if part > left then part = left end
    taken[index], left = part, left - part
  end
  if receipt < 0 then
    while start > first and left > 0 do
      start = start - 1
      take(start)
    end
  elseif receipt > oldest then
    start = logs.first_after(log, receipt - 1, first)
    for index = start, log.size - 1 do take(index) end
  end
  if left < amount then rewrite(log, start, taken) end
  return amount - left
end

return refund, rewrite
