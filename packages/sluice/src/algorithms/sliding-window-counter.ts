import { LimiterError } from '../errors/limiter-error.ts'
import { LAST_INSTANT_AFTER, type Micros } from '../time/micros.ts'
import type { Algorithm, AnyLimit, MicroTokens, View } from './algorithm.ts'
import { compiled, emptyView, kernel, stepOf } from './compiled.ts'
import { quantumOf, roughly, weighted } from './counter-weight.ts'
import { MICRO } from './decimal.ts'
import { alignedEnd, envelopeOf, readWindow, refuseEndless, type WindowOptions } from './window.ts'

/** The weight of the previous window changes in `quanta` steps of `quantum` microseconds. */
export interface CounterPlan {
  readonly limit: MicroTokens
  readonly window: Micros
  readonly quantum: Micros
  readonly quanta: number
}

/**
 * `current` was charged in the window that ends at `end`, `previous` in the window before it. `window` is the length of both. `absent` is 1
 * if only limits with windows shorter than `window` were called in the current window so far. If it is 0, the next window has the same
 * length.
 */
export interface CounterState {
  end: Micros
  current: MicroTokens
  previous: MicroTokens
  window: Micros
  absent: number
}

/**
 * At most `limit` tokens in the window that ends now. This is an estimate: it assumes that the previous window's tokens were taken evenly
 * (the article Rate Limiting at Scale). Over every interval of length t it admits at most limit + limit / window * t.
 * @throws LimiterError INVALID_OPTIONS, INVALID_LIMIT, INVALID_DURATION, or LIMIT_NOT_EXACT if whole numbers below 2^53 cannot represent
 * the limit
 */
export function slidingWindowCounter(options: WindowOptions): AnyLimit {
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
  const plan = Object.freeze({ limit, window, quantum, quanta: window / quantum })
  return compiled(slidingWindowCounterKernel, plan, limit, window)
}

export const slidingWindowCounterKernel: Algorithm<CounterPlan, CounterState> = kernel({
  name: 'sliding-window-counter',
  tag: 'sc',
  step: () => stepOf<CounterState>({ end: 0.5, current: 0.5, previous: 0.5, window: 0.5, absent: 0 }),
  decide(plan, state, now, cost, _phase, into = slidingWindowCounterKernel.step()) {
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
  },
  /**
   * A window longer than this limit's runs to its end. If a limit with that window was called in it, the next window is as long. In all
   * other cases the current window keeps its start and gets this limit's length. Current and previous window keep their charges.
   */
  adopt(plan, state, now) {
    const { window } = plan
    if (state.window === window) return state.absent === 0 || now >= state.end ? state : { ...state, absent: 0 }
    if (state.window > window && now < state.end) return state
    const { end, current, previous } = rolled(state.window, state, now)
    if (state.window > window && state.absent === 0)
      return previous === 0 ? undefined : { end, current, previous, window: state.window, absent: 1 }
    const next = { end: end - state.window + window, current, previous, window, absent: 0 }
    return now >= next.end || current + previous === 0 ? undefined : next
  },
  /**
   * Penalties raise the charges that still count to at most twice the limit. A refund applies to the window of its receipt, the current or
   * the previous one. Without a receipt it applies to the current window first.
   */
  adjust(plan, state, now, amount, _phase, receipt) {
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
  },
  /**
   * Gives unused tokens back to the window of the charge, unless it is older than the previous one. Charges additional use to the previous
   * window if the charge was in it, otherwise to the current one. The charges that still count are then at most twice the limit.
   */
  settle(plan, state, now, { held, actual, at }, phase) {
    const { end, current, previous, window } = rolled(plan.window, state, now)
    const isCurrent = at >= end - window
    const isPrevious = !isCurrent && at >= end - 2 * window
    if (actual < held) {
      const back = Math.min(held - actual, isCurrent ? current : isPrevious ? previous : 0)
      if (back === 0) return { state, charged: held }
      return { state: slidingWindowCounterKernel.adjust(plan, state, now, back, phase, at), charged: held - back }
    }
    const counted = rolled(plan.window, state, now)
    const room = 2 * plan.limit - counted.current - share(plan, counted, now)
    const more = Math.max(0, Math.min(actual - held, room, isPrevious ? 2 * plan.limit - previous : room))
    if (more === 0) return { state, charged: held }
    const next = isPrevious ? { ...counted, previous: previous + more } : { ...counted, current: current + more }
    return { state: next, charged: held + more }
  },
  view(plan, state, now) {
    const at = rolled(plan.window, state, now)
    return fillView(plan, at, share(plan, at, now), now, emptyView())
  },
  expiresAt: (_plan, state) => state.end + (state.current > 0 ? state.window : 0),
  envelope: ({ limit, window }) => envelopeOf(limit, window, limit),
  codec: {
    encodePlan: ({ limit, window, quantum }) => [limit, window, quantum],
    encodeState: ({ end, current, previous, window, absent }) => [end, current, previous, window, absent],
    decodeState: ([end = 0, current = 0, previous = 0, window = 1, absent = 0]) => ({ end, current, previous, window, absent }),
  },
  cells: {
    width: 3,
    save(state, cells, at) {
      cells[at] = state.end
      cells[at + 1] = state.current
      cells[at + 2] = state.previous
    },
    load(sample, cells, at, into) {
      into.end = cells[at] as number
      into.current = cells[at + 1] as number
      into.previous = cells[at + 2] as number
      into.window = sample.window
      into.absent = sample.absent
    },
    samePlan: (one, other) => one.window === other.window && one.absent === other.absent,
    planNumbers: ({ window, absent }) => [window, absent],
  },
})

/** An ended window stays the previous one for one more window's length. */
function rolled(window: Micros, state: CounterState | undefined, now: Micros): CounterState {
  const runs = state !== undefined && now < state.end
  // Without charges in it, an ended window leaves nothing, as in a state that was deleted.
  const follows = state !== undefined && !runs && state.current > 0 && now < state.end + window
  WINDOWS.end = runs ? state.end : follows ? state.end + window : alignedEnd(window, now)
  WINDOWS.current = runs ? state.current : 0
  WINDOWS.previous = runs ? state.previous : follows ? state.current : 0
  WINDOWS.window = runs ? state.window : window
  WINDOWS.absent = runs ? state.absent : 0
  return WINDOWS
}

/** Overwritten by each call, so that decisions allocate nothing. */
const WINDOWS: CounterState = { end: 0.5, current: 0.5, previous: 0.5, window: 0.5, absent: 0 }

/** If a limit with another window wrote the state, its steps are unknown, and `roughly` divides the window. */
function partsOf(plan: CounterPlan, window: Micros): Pick<CounterPlan, 'quantum' | 'quanta'> {
  return window === plan.window ? plan : roughly(window)
}

/** If a clock stepped back before the current window, all of the previous one counts. */
function share(plan: CounterPlan, { end, previous, window }: CounterState, now: Micros): MicroTokens {
  if (previous === 0) return 0
  const { quantum, quanta } = partsOf(plan, window)
  return weighted(previous, Math.min(quanta, Math.ceil((end - now) / quantum)), quanta)
}

/** The first instant at which the cost fits. */
function fitsAt(plan: CounterPlan, at: CounterState, cost: MicroTokens): Micros {
  const { end, current, previous, window, absent } = at
  const { limit } = plan
  const { quantum, quanta } = partsOf(plan, window)
  const now = mostLeft(previous, limit - current - cost, quanta)
  if (now >= 1) return end - now * quantum
  if (window > plan.window && absent === 0) {
    const next = mostLeft(current, limit - cost, quanta)
    // The parts that `roughly` makes may leave a gap at the start of the window.
    return next === quanta ? end : end + window - next * quantum
  }
  const then = mostLeft(current, limit - cost, plan.quanta)
  return end + plan.window - then * plan.quantum
}

/**
 * The most remaining quanta of the current window at which `previous` counts at most `room`; -1 if `room` is below 0. Corrects an estimate
 * in doubles by exact comparisons.
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
