// Made from the programs beside this file by `npm run generate`; edit those, not this.

export const consumeProgram: { readonly sha1: string; readonly source: string } = {
  sha1: '07371c52493813f03a098a7820871dc233c4b3d2',
  source: `local token_bucket = { width = 3 }
do
  local MICRO = 1000000
  local HALF = 131072
  local floor, ceil, max = math.floor, math.ceil, math.max
  local function span_of(plan, micro)
    local tokens = floor(micro / MICRO)
    local parts = micro - tokens * MICRO
    local sum = tokens * plan.token_rest + parts * plan.micro_rest
    local carry = floor(sum / plan.n)
    return tokens * plan.token_micros + parts * plan.micro_micros + carry, sum - carry * plan.n
  end
  local function plan_of(n, m, burst)
    local token_time = m * MICRO
    local plan = { n = n, m = m, burst = burst }
    plan.token_micros = floor(token_time / n)
    plan.token_rest = token_time - plan.token_micros * n
    plan.micro_micros = floor(m / n)
    plan.micro_rest = m - plan.micro_micros * n
    plan.full_micros, plan.full_rest = span_of(plan, burst)
    return plan
  end
  local function filled(plan, state, time)
    local rest = plan.full_rest == 0 and 0 or plan.n - plan.full_rest
    local zero = time - plan.full_micros - (rest == 0 and 0 or 1)
    if not state then return zero, rest, 0 end
    if state.zero > zero or (state.zero == zero and state.rest > rest) then return state.zero, state.rest, state.hold end
    if state.hold > 0 and time < state.seen + state.hold then return zero, rest, state.hold end
    return zero, rest, 0
  end
  local function after(plan, micros, unit_rest, zero, rest, count)
    return zero + count * micros + ceil((rest + count * unit_rest) / plan.n)
  end
  local function affordable(plan, micros, unit_rest, zero, rest, time)
    local span = time - zero
    if span <= 0 then return 0 end
    local count = max(0, floor((span - rest / plan.n) / (micros + unit_rest / plan.n)))
    while count > 0 and after(plan, micros, unit_rest, zero, rest, count) > time do count = count - 1 end
    while after(plan, micros, unit_rest, zero, rest, count + 1) <= time do count = count + 1 end
    return count
  end
  local function look(view, plan, zero, rest, time, now)
    local remaining = affordable(plan, plan.token_micros, plan.token_rest, zero, rest, time)
    local full = zero + plan.full_micros + ceil((rest + plan.full_rest) / plan.n)
    view.remaining = remaining
    view.reset_after = full > time and full - now or 0
    if (remaining + 1) * MICRO > plan.burst then
      view.replenish_after = view.reset_after
    else
      view.replenish_after = after(plan, plan.token_micros, plan.token_rest, zero, rest, remaining + 1) - now
    end
    return view
  end
  local function mul_div(a, b, c)
    local high = floor(b / HALF)
    local first = a * high
    local quotient = floor(first / c)
    local carried = (first - quotient * c) * HALF + a * (b - high * HALF)
    return quotient * HALF + floor(carried / c)
  end
  local function level_of(plan, zero, rest, time)
    local tokens = affordable(plan, plan.token_micros, plan.token_rest, zero, rest, time)
    local moved = rest + tokens * plan.token_rest
    local carry = floor(moved / plan.n)
    local zero_left = zero + tokens * plan.token_micros + carry
    local rest_left = moved - carry * plan.n
    local parts = affordable(plan, plan.micro_micros, plan.micro_rest, zero_left, rest_left, time)
    local elapsed = (time - zero_left) * plan.n - rest_left
    return tokens * MICRO + parts, max(0, elapsed - parts * plan.m)
  end
  local function expires_at(plan, state)
    local fresh = state.zero + plan.full_micros + ceil((state.rest + plan.full_rest) / plan.n)
    if state.hold > 0 then return max(fresh, state.seen + state.hold) end
    return fresh
  end
  function token_bucket.plan(from)
    return plan_of(tonumber(ARGV[from]), tonumber(ARGV[from + 1]), tonumber(ARGV[from + 2]))
  end
  function token_bucket.expires_at(state)
    return expires_at(plan_of(state.n, state.m, state.burst), state)
  end
  function token_bucket.adopt(plan, state, now)
    if state.n == plan.n and state.m == plan.m and state.burst == plan.burst then return state end
    local time = max(now, state.seen)
    local old = plan_of(state.n, state.m, state.burst)
    if expires_at(old, state) <= time then return nil end
    local zero, rest = filled(old, state, time)
    local micro, part = level_of(old, zero, rest, time)
    local extra = 0
    if micro >= plan.burst then
      micro = plan.burst
    else
      extra = mul_div(part, plan.m, old.m)
    end
    local span_micros, span_rest = span_of(plan, micro)
    local behind = span_rest + extra
    local back = ceil(behind / plan.n)
    return {
      zero = time - span_micros - back,
      rest = back * plan.n - behind,
      seen = state.seen,
      hold = max(state.hold, old.full_micros + (old.full_rest > 0 and 1 or 0)),
      n = plan.n,
      m = plan.m,
      burst = plan.burst,
    }
  end
  function token_bucket.view(plan, state, now)
    local time = state and max(now, state.seen) or now
    local zero, rest = filled(plan, state, time)
    return look({}, plan, zero, rest, time, now)
  end
  function token_bucket.decide(plan, state, now, cost)
    local time = state and max(now, state.seen) or now
    local zero, rest, hold = filled(plan, state, time)
    if cost > plan.burst then return look({ outcome = 2, retry_after = 0, state = state }, plan, zero, rest, time, now) end
    local micros, unit_rest = span_of(plan, cost)
    local sum = rest + unit_rest
    local carry = floor(sum / plan.n)
    local moved_zero = zero + micros + carry
    local moved_rest = sum - carry * plan.n
    if moved_zero > time or (moved_zero == time and moved_rest > 0) then
      local retry_after = moved_zero - now + (moved_rest > 0 and 1 or 0)
      return look({ outcome = 1, retry_after = retry_after, state = state }, plan, zero, rest, time, now)
    end
    local next_state = {
      zero = moved_zero, rest = moved_rest, seen = time, hold = hold, n = plan.n, m = plan.m, burst = plan.burst,
    }
    return look({ outcome = 0, retry_after = 0, state = next_state }, plan, moved_zero, moved_rest, time, now)
  end
  function token_bucket.encode(state)
    return string.format(
      '1 %.0f %.0f %.0f %.0f %.0f %.0f %.0f',
      state.zero, state.rest, state.seen - state.zero, state.hold, state.n, state.m, state.burst
    )
  end
  function token_bucket.decode(text)
    local zero, rest, age, hold, n, m, burst = string.match(text, '^1 (%-?%d+) (%d+) (%-?%d+) (%d+) (%d+) (%d+) (%d+)$')
    if not zero then return nil end
    zero = tonumber(zero)
    return {
      zero = zero,
      rest = tonumber(rest),
      seen = zero + tonumber(age),
      hold = tonumber(hold),
      n = tonumber(n),
      m = tonumber(m),
      burst = tonumber(burst),
    }
  end
end
local algorithms = { tb = token_bucket }
local SLACK = 60000
local given = tonumber(ARGV[1])
local now = given
if given == 0 then
  local time = redis.call('TIME')
  now = tonumber(time[1]) * 1000000 + tonumber(time[2])
end
local charging = ARGV[2] == '1'
local states = {}
local dirty = {}
local function load(index, algorithm)
  local state = states[index]
  if state == nil then
    local text = redis.pcall('GET', KEYS[index])
    state = type(text) == 'string' and algorithm.decode(text) or false
    states[index] = state
  end
  return state or nil
end
local reply = {}
local at = 4
local function group(calls)
  local adopted, taken, steps = {}, {}, {}
  local outcome = 0
  for i = 1, calls do
    local index = tonumber(ARGV[at])
    local algorithm = algorithms[ARGV[at + 1]]
    local cost = tonumber(ARGV[at + 2])
    local plan = algorithm.plan(at + 3)
    at = at + 3 + algorithm.width
    if taken[index] == nil then
      taken[index] = 0
      local state = load(index, algorithm)
      adopted[index] = state and algorithm.adopt(plan, state, now) or false
    end
    taken[index] = taken[index] + cost
    local step = algorithm.decide(plan, adopted[index] or nil, now, taken[index])
    step.index, step.algorithm, step.plan = index, algorithm, plan
    steps[i] = step
    if step.outcome > outcome then outcome = step.outcome end
  end
  reply[#reply + 1] = outcome
  reply[#reply + 1] = now
  for i = 1, calls do
    local step = steps[i]
    local index, algorithm = step.index, step.algorithm
    local kept = adopted[index] or nil
    local state = kept
    local view = step
    if outcome == 0 then
      state = step.state
    else
      view = algorithm.view(step.plan, kept, now)
    end
    if state and state ~= states[index] then
      states[index] = state
      dirty[index] = algorithm
    end
    reply[#reply + 1] = step.outcome
    reply[#reply + 1] = step.retry_after
    reply[#reply + 1] = view.remaining
    reply[#reply + 1] = view.replenish_after
    reply[#reply + 1] = view.reset_after
  end
end
for _ = 1, tonumber(ARGV[3]) do
  local calls = tonumber(ARGV[at])
  at = at + 1
  group(calls)
end
if charging then
  for index, algorithm in pairs(dirty) do
    local state = states[index]
    local ttl = math.max(1, math.ceil((algorithm.expires_at(state) - now) / 1000))
    if given ~= 0 then ttl = ttl + SLACK end
    redis.call('SET', KEYS[index], algorithm.encode(state), 'PX', string.format('%.0f', ttl))
  end
end
return reply
`,
}
