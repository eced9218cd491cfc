import { LimiterError } from '../errors/limiter-error.ts'
import { refuseUnknown } from '../errors/options.ts'
import { LAST_INSTANT_AFTER, type Micros } from '../time/micros.ts'
import type { Algorithm, CompiledLimit, MicroTokens, Step, View } from './algorithm.ts'
import { reduced } from './bucket-plan.ts'
import { compiled, stepOf } from './compiled.ts'
import { quantumOf, roughly, weighted } from './counter-weight.ts'
import { MICRO } from './decimal.ts'
import { alignedEnd, readWindow, refuseEndless, type WindowOptions } from './window.ts'

/** The weight of the previous window is counted in `quanta` parts of the window, each `quantum` microseconds long. */
export interface CounterPlan {
  readonly limit: MicroTokens
  readonly window: Micros
  readonly quantum: Micros
  readonly quanta: number
}

/**
 * What was charged in the window that ends at `end`, and in the one before it. `window` is the length of both: the plan's, or that of a
 * longer plan. `absent` is 1 if that longer plan was not called in this window yet. It is 0 if it was: then the next window is as long.
 */
export interface CounterState {
  end: Micros
  current: MicroTokens
  previous: MicroTokens
  window: Micros
  absent: number
}

/**
 * A sliding window counter: at most `limit` tokens in the current window and the part of the previous one that a window ending now still
 * overlaps. It assumes that the previous window's tokens were taken evenly (Rate Limiting at Scale). Over every interval of length t it
 * admits at most limit + limit / window * t.
 * @throws LimiterError INVALID_OPTIONS, INVALID_LIMIT, INVALID_DURATION, or LIMIT_NOT_EXACT if whole numbers below 2^53 cannot represent
 * the limit
 */
export function slidingWindowCounter(options: WindowOptions): CompiledLimit<CounterPlan, CounterState> {
  refuseUnknown('slidingWindowCounter', options, ['limit', 'window'])
  const { limit, window } = readWindow('slidingWindowCounter', options)
  const days = Math.floor(LAST_INSTANT_AFTER / 2 / 86_400_000_000)
  refuseEndless(
    `slidingWindowCounter: window is ${options.window}, which counts for one window more;`,
    2 * window,
    `the longest is ${days} days`,
  )
  const quantum = quantumOf(limit, window)
  if (typeof quantum === 'string') {
    throw new LimiterError('LIMIT_NOT_EXACT', `slidingWindowCounter: limit ${options.limit} in a window of ${options.window}: ${quantum}`)
  }
  return compiled(slidingWindowCounterKernel, Object.freeze({ limit, window, quantum, quanta: window / quantum }), limit, window)
}

export const slidingWindowCounterKernel: Algorithm<CounterPlan, CounterState> = Object.freeze({
  name: 'sliding-window-counter',
  tag: 'sc',
  step: () => stepOf<CounterState>({ end: 0.5, current: 0.5, previous: 0.5, window: 0.5, absent: 0 }),
  decide,
  adopt,
  adjust,
  view(plan: CounterPlan, state: CounterState | undefined, now: Micros): View {
    const at = rolled(plan.window, state, now)
    return fillView(plan, at, share(plan, at, now), now, { remaining: 0, replenishAfter: 0, resetAfter: 0 })
  },
  expiresAt: (_plan: CounterPlan, state: CounterState): Micros => state.end + (state.current > 0 ? state.window : 0),
  envelope({ limit, window }: CounterPlan) {
    const [n, m] = reduced(limit, window)
    return { n, m, burst: limit }
  },
  codec: {
    encodePlan: (plan: CounterPlan) => [plan.limit, plan.window, plan.quantum],
    encodeState: (state: CounterState) => [state.end, state.current, state.previous, state.window, state.absent],
    decodeState([end = 0, current = 0, previous = 0, window = 1, absent = 0]: readonly number[]): CounterState {
      return { end, current, previous, window, absent }
    },
  },
  cells: {
    width: 3,
    save(state: CounterState, cells: Float64Array, at: number): void {
      cells[at] = state.end
      cells[at + 1] = state.current
      cells[at + 2] = state.previous
    },
    load(sample: CounterState, cells: Float64Array, at: number, into: CounterState): void {
      into.end = cells[at] as number
      into.current = cells[at + 1] as number
      into.previous = cells[at + 2] as number
      into.window = sample.window
      into.absent = sample.absent
    },
    samePlan: (one: CounterState, other: CounterState) => one.window === other.window && one.absent === other.absent,
    planNumbers: ({ window, absent }: CounterState) => [window, absent],
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
  const at = rolled(plan.window, state, now)
  const counted = share(plan, at, now)
  into.outcome = cost > plan.limit ? 'impossible' : cost > plan.limit - at.current - counted ? 'denied' : 'allowed'
  into.retryAfter = into.outcome === 'denied' ? fitsAt(plan, at, cost) - now : 0
  into.state = state
  if (into.outcome === 'allowed') {
    at.current += cost
    const { next } = into
    next.end = at.end
    next.current = at.current
    next.previous = at.previous
    next.window = at.window
    next.absent = at.absent
    into.state = next
  }
  return fillView(plan, at, counted, now, into)
}

/**
 * A window longer than the plan's runs to its end. The next one is as long if the longer plan was called in it. Otherwise the current
 * window keeps its start, its charges and those before it, and gets the plan's length (law 7).
 */
function adopt(plan: CounterPlan, state: CounterState, now: Micros): CounterState | undefined {
  const { window } = plan
  if (state.window === window) return state.absent === 0 || now >= state.end ? state : { ...state, absent: 0 }
  if (state.window > window && now < state.end) return state
  const { end, current, previous } = rolled(state.window, state, now)
  if (state.window > window && state.absent === 0)
    return previous === 0 ? undefined : { end, current, previous, window: state.window, absent: 1 }
  const next = { end: end - state.window + window, current, previous, window, absent: 0 }
  return now >= next.end || current + previous === 0 ? undefined : next
}

/**
 * Penalties raise the count to at most twice the limit. A refund applies only to the window of its receipt: the current one or the one
 * before it.
 */
function adjust(
  plan: CounterPlan,
  state: CounterState | undefined,
  now: Micros,
  amount: MicroTokens,
  _phase: number,
  receipt?: Micros,
): CounterState | undefined {
  const at = rolled(plan.window, state, now)
  const { end, current, previous, window } = at
  if (amount < 0) {
    const room = 2 * plan.limit - current - share(plan, at, now)
    return room <= 0 ? state : { ...at, current: current + Math.min(room, -amount) }
  }
  const start = end - window
  if (receipt !== undefined && receipt < start - window) return state
  const fromCurrent = receipt !== undefined && receipt < start ? 0 : Math.min(current, amount)
  const fromPrevious = receipt !== undefined && receipt >= start ? 0 : Math.min(previous, amount - fromCurrent)
  if (fromCurrent + fromPrevious === 0) return state
  const next = { ...at, current: current - fromCurrent, previous: previous - fromPrevious }
  return next.current + next.previous === 0 ? undefined : next
}

/** The windows at this instant. At each end the current window becomes the previous one, for one window's length. */
function rolled(window: Micros, state: CounterState | undefined, now: Micros): CounterState {
  const runs = state !== undefined && now < state.end
  const follows = state !== undefined && !runs && now < state.end + window
  WINDOWS.end = runs ? state.end : follows ? state.end + window : alignedEnd(window, now)
  WINDOWS.current = runs ? state.current : 0
  WINDOWS.previous = runs ? state.previous : follows ? state.current : 0
  WINDOWS.window = runs ? state.window : window
  WINDOWS.absent = runs ? state.absent : 0
  return WINDOWS
}

/** Filled again by each call, so that decisions allocate nothing; nobody keeps it. */
const WINDOWS: CounterState = { end: 0.5, current: 0.5, previous: 0.5, window: 0.5, absent: 0 }

/** How the weight of the previous window is counted: as the plan says, or roughly if the window is not the plan's. */
function partsOf(plan: CounterPlan, window: Micros): Pick<CounterPlan, 'quantum' | 'quanta'> {
  return window === plan.window ? plan : roughly(window)
}

/** What the previous window still counts. It counts in full before the current window's start (if a clock stepped back). */
function share(plan: CounterPlan, { end, previous, window }: CounterState, now: Micros): MicroTokens {
  if (previous === 0) return 0
  const { quantum, quanta } = partsOf(plan, window)
  return weighted(previous, Math.min(quanta, Math.ceil((end - now) / quantum)), quanta)
}

/**
 * The first instant at which a cost fits that does not fit now. It is in this window, or after its end, when this window is the previous
 * one.
 */
function fitsAt(plan: CounterPlan, { end, current, previous, window, absent }: CounterState, cost: MicroTokens): Micros {
  const { limit } = plan
  const { quantum, quanta } = partsOf(plan, window)
  const now = mostLeft(previous, limit - current - cost, quanta)
  if (now >= 1) return end - now * quantum
  if (window > plan.window && absent === 0) {
    const next = mostLeft(current, limit - cost, quanta)
    // The parts of a longer plan's window may not fill it. They leave a gap at its start.
    return next === quanta ? end : end + window - next * quantum
  }
  const then = mostLeft(current, limit - cost, plan.quanta)
  return end + plan.window - then * plan.quantum
}

/**
 * The most quanta to come at which this much of the previous window fits; -1 if none. Estimates with doubles, then corrects the estimate by
 * exact comparisons.
 */
function mostLeft(previous: MicroTokens, room: MicroTokens, quanta: number): number {
  if (room < 0) return -1
  if (previous <= room) return quanta
  let left = Math.min(quanta, Math.floor((room / previous) * quanta))
  while (left > 0 && weighted(previous, left, quanta) > room) left -= 1
  while (left < quanta && weighted(previous, left + 1, quanta) <= room) left += 1
  return left
}

function fillView<V extends View>(plan: CounterPlan, at: CounterState, counted: MicroTokens, now: Micros, into: V): V {
  const { end, current, previous, window, absent } = at
  const remaining = Math.floor(Math.max(0, plan.limit - current - counted) / MICRO)
  const more = (remaining + 1) * MICRO
  into.remaining = remaining
  into.resetAfter = current > 0 ? end + (absent === 0 ? window : plan.window) - now : previous > 0 ? end - now : 0
  into.replenishAfter = more > plan.limit ? into.resetAfter : fitsAt(plan, at, more) - now
  return into
}
