import { LimiterError } from '../errors/limiter-error.ts'
import { LAST_INSTANT_AFTER, type Micros } from '../time/micros.ts'
import type { Algorithm, CompiledLimit, MicroTokens, View } from './algorithm.ts'
import { compiled, emptyView, kernel, stepOf } from './compiled.ts'
import { quantumOf, roughly, weighted } from './counter-weight.ts'
import { MICRO } from './decimal.ts'
import { alignedEnd, envelopeOf, readWindow, refuseEndless, type WindowOptions } from './window.ts'

/**
 * The plan of a sliding window counter. The window has `quanta` equal parts of `quantum` microseconds. The weight of the previous window
 * changes in steps of one part.
 */
export interface CounterPlan {
  readonly limit: MicroTokens
  readonly window: Micros
  readonly quantum: Micros
  readonly quanta: number
}

/**
 * `current` was charged in the window that ends at `end`, `previous` in the window before it. `window` is the length of both windows. It is
 * the plan's, or that of another plan of this key with a longer window (the longer plan). `absent` is 1 if no call under the longer plan
 * has come in the current window yet. If `absent` is 0, the next window has the same length.
 */
export interface CounterState {
  end: Micros
  current: MicroTokens
  previous: MicroTokens
  window: Micros
  absent: number
}

/**
 * A sliding window counter: at most `limit` tokens in the sliding window, which ends now. It overlaps the current window and a part of the
 * previous one. The counter assumes that the previous window's tokens were taken evenly (the article Rate Limiting at Scale). Over every
 * interval of length t it admits at most limit + limit / window * t.
 * @throws LimiterError INVALID_OPTIONS, INVALID_LIMIT, INVALID_DURATION, or LIMIT_NOT_EXACT if whole numbers below 2^53 cannot represent
 * the limit
 */
export function slidingWindowCounter(options: WindowOptions): CompiledLimit<CounterPlan, CounterState> {
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
   * The key may have been called under another plan with a longer window (the longer plan). Then the current window runs to its end. If a
   * call under the longer plan came in the current window, the next window is as long. In all other cases the current window keeps its
   * start and gets the plan's length, and both windows keep their charges (law 7).
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
   * Penalties raise the count to at most twice the limit. A refund with a receipt applies only to the window of that charge, which must be
   * the current or the previous one. A refund without a receipt applies to the current window first.
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
   * A hold was charged before it was known what it would use. If it used less, the difference is given back to the window of the charge. If
   * that is neither the current nor the previous window, nothing is given back. If the hold used more, the difference is charged to the
   * previous window if the charge was in that, otherwise to the current window. What is counted rises to at most twice the limit.
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

/** The current and the previous window at `now`. A window that has ended is the previous one for the length of one more window. */
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

/** Overwritten by each call, so that decisions allocate nothing. No caller keeps it. */
const WINDOWS: CounterState = { end: 0.5, current: 0.5, previous: 0.5, window: 0.5, absent: 0 }

/**
 * The equal parts in which the weight of the previous window is counted: those of the plan, if the window is as long as the plan's.
 * Otherwise another plan wrote the state. Its parts are not known, so `roughly` divides the window.
 */
function partsOf(plan: CounterPlan, window: Micros): Pick<CounterPlan, 'quantum' | 'quanta'> {
  return window === plan.window ? plan : roughly(window)
}

/**
 * How many of the previous window's micro-tokens still count. If a clock stepped back to before the current window's start, all of them
 * count.
 */
function share(plan: CounterPlan, { end, previous, window }: CounterState, now: Micros): MicroTokens {
  if (previous === 0) return 0
  const { quantum, quanta } = partsOf(plan, window)
  return weighted(previous, Math.min(quanta, Math.ceil((end - now) / quantum)), quanta)
}

/**
 * The first instant at which a cost fits that does not fit now. It is in the current window, or after its end, when the current window has
 * become the previous one.
 */
function fitsAt(plan: CounterPlan, at: CounterState, cost: MicroTokens): Micros {
  const { end, current, previous, window, absent } = at
  const { limit } = plan
  const { quantum, quanta } = partsOf(plan, window)
  const now = mostLeft(previous, limit - current - cost, quanta)
  if (now >= 1) return end - now * quantum
  if (window > plan.window && absent === 0) {
    const next = mostLeft(current, limit - cost, quanta)
    // The window of a longer plan is divided by `roughly` into quanta (parts), which may not fill it. Then there is a gap at its start.
    return next === quanta ? end : end + window - next * quantum
  }
  const then = mostLeft(current, limit - cost, plan.quanta)
  return end + plan.window - then * plan.quantum
}

/**
 * The weight of `previous` is the part of the current window's quanta that are left. Returns the greatest number of quanta at which
 * `previous` counts at most `room`; -1 if `room` is below 0. Estimates with doubles, then corrects the estimate by exact comparisons.
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
