import { LimiterError } from '../errors/limiter-error.ts'
import { refuseUnknown } from '../errors/options.ts'
import { type Micros, toMillis } from '../time/micros.ts'
import type { Algorithm, CompiledLimit, MicroTokens, Step, View } from './algorithm.ts'
import { reduced } from './bucket-plan.ts'
import { quantumOf, weighted } from './counter-weight.ts'
import { fromMicroTokens, MICRO } from './decimal.ts'
import { alignedEnd, readWindow, stepOf, type WindowOptions } from './window.ts'

/** `quanta` parts of the window, each `quantum` long, are what the weight of the previous window is counted in. */
export interface CounterPlan {
  readonly limit: MicroTokens
  readonly window: Micros
  readonly quantum: Micros
  readonly quanta: number
}

/** What was charged in the window that ends at `end`, and in the one before it; `window` is the length of both. */
export interface CounterState {
  end: Micros
  current: MicroTokens
  previous: MicroTokens
  window: Micros
}

/**
 * A sliding window counter: at most `limit` tokens in this window and the part of the previous one that a window ending now
 * still overlaps, as if its tokens had been taken evenly (Rate Limiting at Scale). Over every interval of length t at most
 * limit + limit / window * t is admitted.
 * @throws LimiterError INVALID_OPTIONS, INVALID_LIMIT, INVALID_DURATION, or LIMIT_NOT_EXACT where whole numbers below 2^53 cannot carry the limit
 */
export function slidingWindowCounter(options: WindowOptions): CompiledLimit<CounterPlan, CounterState> {
  refuseUnknown('slidingWindowCounter', options, ['limit', 'window'])
  const { limit, window } = readWindow('slidingWindowCounter', options)
  const quantum = quantumOf(limit, window)
  if (typeof quantum === 'string') {
    throw new LimiterError('LIMIT_NOT_EXACT', `slidingWindowCounter: limit ${options.limit} in a window of ${options.window}: ${quantum}`)
  }
  const plan = Object.freeze({ limit, window, quantum, quanta: window / quantum })
  return Object.freeze({
    algorithm: slidingWindowCounterKernel,
    plan,
    capacity: fromMicroTokens(limit),
    windowMs: toMillis(window),
    phased: false,
  })
}

export const slidingWindowCounterKernel: Algorithm<CounterPlan, CounterState> = Object.freeze({
  name: 'sliding-window-counter',
  tag: 'sc',
  version: 1,
  step: () => stepOf<CounterState>({ end: 0.5, current: 0.5, previous: 0.5, window: 0.5 }),
  decide,
  adopt,
  adjust,
  view(plan: CounterPlan, state: CounterState | undefined, now: Micros): View {
    const { end, current, previous } = rolled(plan.window, state, now)
    return look(plan, end, current, previous, now, { remaining: 0, replenishAfter: 0, resetAfter: 0 })
  },
  expiresAt: (_plan: CounterPlan, state: CounterState): Micros => state.end + (state.current > 0 ? state.window : 0),
  envelope({ limit, window }: CounterPlan) {
    const [n, m] = reduced(limit, window)
    return { n, m, burst: limit }
  },
  codec: {
    encodePlan: (plan: CounterPlan) => [plan.limit, plan.window, plan.quantum],
    encodeState: (state: CounterState) => [state.end, state.current, state.previous, state.window],
    decodeState([end = 0, current = 0, previous = 0, window = 1]: readonly number[]): CounterState {
      return { end, current, previous, window }
    },
  },
  cells: {
    width: 3,
    save(state: CounterState, cells: Float64Array, at: number): void {
      cells[at] = state.end
      cells[at + 1] = state.current
      cells[at + 2] = state.previous
    },
    load(unit: CounterState, cells: Float64Array, at: number, into: CounterState): void {
      into.end = cells[at] as number
      into.current = cells[at + 1] as number
      into.previous = cells[at + 2] as number
      into.window = unit.window
    },
    sameUnit: (one: CounterState, other: CounterState) => one.window === other.window,
  },
})

function decide(
  plan: CounterPlan,
  state: CounterState | undefined,
  now: Micros,
  cost: MicroTokens,
  _phase: number,
  into: Step<CounterState> = slidingWindowCounterKernel.step(),
): Step<CounterState> {
  const { limit, window } = plan
  // As `rolled`, without an object: this is the way of every request.
  let end = state === undefined ? 0 : state.end
  let current = 0
  let previous = 0
  if (state !== undefined && now < end) ({ current, previous } = state)
  else if (state !== undefined && now < end + window) {
    previous = state.current
    end += window
  } else end = alignedEnd(window, now)
  if (cost > limit) {
    into.outcome = 'impossible'
    into.retryAfter = 0
    into.state = state
  } else if (cost > limit - current - share(plan, end, previous, now)) {
    into.outcome = 'denied'
    into.retryAfter = fitsAt(plan, end, current, previous, cost) - now
    into.state = state
  } else {
    current += cost
    const { next } = into
    next.end = end
    next.current = current
    next.previous = previous
    next.window = window
    into.outcome = 'allowed'
    into.retryAfter = 0
    into.state = next
  }
  look(plan, end, current, previous, now, into)
  return into
}

/**
 * What is counted now, rounded up, goes on as charged in one window of the new length. That one ends so late that at no instant
 * less is counted than the old windows would have (law 7).
 */
function adopt(plan: CounterPlan, state: CounterState, now: Micros): CounterState | undefined {
  const { window } = state
  if (window === plan.window) return state
  const { end, current, previous } = rolled(window, state, now)
  const counted = current + weightedRoughly(previous, window, end - Math.max(now, end - window))
  if (counted === 0) return undefined
  const least = current > 0 ? end + Math.max(0, window - plan.window) : end - plan.window
  return { end: Math.max(alignedEnd(plan.window, now), least), current: counted, previous: 0, window: plan.window }
}

/** Penalties count up to twice the limit; a refund is for the window that the receipt is of, this one or the one before it. */
function adjust(
  plan: CounterPlan,
  state: CounterState | undefined,
  now: Micros,
  amount: MicroTokens,
  _phase: number,
  receipt?: Micros,
): CounterState | undefined {
  const { end, current, previous } = rolled(plan.window, state, now)
  const { window } = plan
  if (amount < 0) {
    const room = 2 * plan.limit - current - share(plan, end, previous, now)
    return room <= 0 ? state : { end, current: current + Math.min(room, -amount), previous, window }
  }
  const start = end - window
  if (receipt !== undefined && receipt < start - window) return state
  const fromCurrent = receipt !== undefined && receipt < start ? 0 : Math.min(current, amount)
  const fromPrevious = receipt !== undefined && receipt >= start ? 0 : Math.min(previous, amount - fromCurrent)
  if (fromCurrent + fromPrevious === 0) return state
  const next = { end, current: current - fromCurrent, previous: previous - fromPrevious, window }
  return next.current + next.previous === 0 ? undefined : next
}

/** The windows as they stand at this instant: each end makes the current one the previous for one window's length. */
function rolled(window: Micros, state: CounterState | undefined, now: Micros): Omit<CounterState, 'window'> {
  if (state === undefined || now >= state.end + window) return { end: alignedEnd(window, now), current: 0, previous: 0 }
  return now < state.end ? state : { end: state.end + window, current: 0, previous: state.current }
}

/** What the previous window still counts for. Before the current one's start (a clock that stepped back) it counts in full. */
function share({ window, quantum, quanta }: CounterPlan, end: Micros, previous: MicroTokens, now: Micros): MicroTokens {
  if (previous === 0) return 0
  const elapsed = window - (end - now)
  return weighted(previous, elapsed <= 0 ? quanta : quanta - Math.floor(elapsed / quantum), quanta)
}

/**
 * `weighted` for a window whose plan is not known any more: in parts of at most a millionth of it, rounded up.
 * @param left how much of the current window is to come
 */
function weightedRoughly(previous: MicroTokens, window: Micros, left: Micros): MicroTokens {
  if (previous === 0) return 0
  let quantum = 1
  while (window / quantum > MICRO) quantum *= 10
  const quanta = Math.floor(window / quantum)
  return weighted(previous, Math.min(quanta, Math.ceil(left / quantum)), quanta)
}

/** First instant at which a cost fits that does not fit now: in this window, or after its end, when it has become the previous one. */
function fitsAt(plan: CounterPlan, end: Micros, current: MicroTokens, previous: MicroTokens, cost: MicroTokens): Micros {
  const { limit, window, quantum, quanta } = plan
  const now = mostLeft(previous, limit - current - cost, quanta)
  if (now >= 1) return end - window + (quanta - now) * quantum
  return end + (quanta - mostLeft(current, limit - cost, quanta)) * quantum
}

/** The most quanta to come at which so much of the previous window fits; -1 where none: an estimate in doubles, made exact by comparing. */
function mostLeft(previous: MicroTokens, room: MicroTokens, quanta: number): number {
  if (room < 0) return -1
  if (previous <= room) return quanta
  let left = Math.min(quanta, Math.floor((room / previous) * quanta))
  while (left > 0 && weighted(previous, left, quanta) > room) left -= 1
  while (left < quanta && weighted(previous, left + 1, quanta) <= room) left += 1
  return left
}

function look<V extends View>(plan: CounterPlan, end: Micros, current: MicroTokens, previous: MicroTokens, now: Micros, into: V): V {
  const { limit, window } = plan
  const remaining = Math.floor(Math.max(0, limit - current - share(plan, end, previous, now)) / MICRO)
  const more = (remaining + 1) * MICRO
  into.remaining = remaining
  into.resetAfter = current > 0 ? end + window - now : previous > 0 ? end - now : 0
  into.replenishAfter = more > limit ? into.resetAfter : fitsAt(plan, end, current, previous, more) - now
  return into
}
