import { LimiterError } from '../errors/limiter-error.ts'
import { refuseUnknown } from '../errors/options.ts'
import { parseDuration } from '../time/duration.ts'
import { LAST_INSTANT_AFTER, type Micros, toMillis } from '../time/micros.ts'
import type { Algorithm, CompiledLimit, MicroTokens, Step, View } from './algorithm.ts'
import { reduced } from './bucket-plan.ts'
import { fromMicroTokens, MICRO } from './decimal.ts'
import { alignedEnd, readWindow, refuseEndless, stepOf, type WindowOptions } from './window.ts'

/** Where windows begin: at multiples of their length since 1970, at a key's first charge, or spread so that keys reset at different times. */
export type Align = 'clock' | 'first' | 'key'

const ALIGNS: readonly Align[] = ['clock', 'first', 'key']

export interface FixedWindowOptions extends WindowOptions {
  /** Default `clock`. */
  readonly align?: Align
  /** A soft start: so long after a reset, shorter than the window, the limit grows from one token to all. Not with `first`. */
  readonly ramp?: string | number
}

/** `n` micro-tokens every `m` microseconds, reduced, are what the ramp lets through; `ramp` 0 is none. */
export interface FixedWindowPlan {
  readonly limit: MicroTokens
  readonly window: Micros
  readonly align: Align
  readonly ramp: Micros
  readonly n: number
  readonly m: Micros
}

/**
 * `count` was taken in the window that ends at `end` and is `window` long: the length of the plan that began it, or of a
 * longer one that has prolonged it.
 */
export interface FixedWindowState {
  end: Micros
  count: MicroTokens
  window: Micros
}

/**
 * A fixed window: at most `limit` tokens in each window, then a reset. Around a reset an interval shorter than the window may
 * see twice the limit; a sliding window does not have that (Rate Limiting at Scale).
 * @throws LimiterError INVALID_OPTIONS, INVALID_LIMIT, INVALID_DURATION, or LIMIT_NOT_EXACT where whole numbers below 2^53 cannot carry the limit
 */
export function fixedWindow(options: FixedWindowOptions): CompiledLimit<FixedWindowPlan, FixedWindowState> {
  refuseUnknown('fixedWindow', options, ['limit', 'window', 'align', 'ramp'])
  const { limit, window } = readWindow('fixedWindow', options)
  const { align = 'clock' } = options
  if (!ALIGNS.includes(align)) {
    throw new LimiterError('INVALID_OPTIONS', `fixedWindow: align is ${JSON.stringify(align)}, expected clock, first or key`)
  }
  const ramp = options.ramp === undefined ? 0 : readRamp(options, window, align)
  const days = Math.floor(LAST_INSTANT_AFTER / 86_400_000_000)
  refuseEndless(
    `fixedWindow: window is ${options.window} and ramp ${options.ramp};`,
    window + ramp,
    `together they last ${days} days at most`,
  )
  const [n, m] = ramp === 0 ? [0, 1] : reduced(limit, ramp)
  if (!Number.isSafeInteger(limit * m)) {
    const problem = `has too many digits for a ramp of ${options.ramp}; round one of the two until limit / ramp has a small denominator`
    throw new LimiterError('LIMIT_NOT_EXACT', `fixedWindow: limit ${options.limit} ${problem}`)
  }
  const plan = Object.freeze({ limit, window, align, ramp, n, m })
  return Object.freeze({
    algorithm: fixedWindowKernel,
    plan,
    capacity: fromMicroTokens(limit),
    windowMs: toMillis(window),
    phased: align === 'key',
    ...(ramp === 0 ? {} : { ramped: true as const }),
  })
}

function readRamp(options: FixedWindowOptions, window: Micros, align: Align): Micros {
  const ramp = parseDuration(options.ramp as string | number)
  if (align === 'first') {
    throw new LimiterError(
      'INVALID_OPTIONS',
      'fixedWindow: ramp goes with align clock or key; a window that starts at its first charge would never start where the ramp denies that one',
    )
  }
  if (ramp < window) return ramp
  throw new LimiterError('INVALID_OPTIONS', `fixedWindow: ramp is ${options.ramp}, expected shorter than the window of ${options.window}`)
}

export const fixedWindowKernel: Algorithm<FixedWindowPlan, FixedWindowState> = Object.freeze({
  name: 'fixed-window',
  tag: 'fw',
  version: 1,
  step: () => stepOf<FixedWindowState>({ end: 0.5, count: 0.5, window: 0.5 }),
  decide,
  adopt,
  adjust,
  view(plan: FixedWindowPlan, state: FixedWindowState | undefined, now: Micros, phase: number): View {
    const current = state !== undefined && now < state.end
    const end = current ? state.end : freshEnd(plan, now, phase)
    const start = end - (current ? state.window : plan.window)
    return look(plan, start, end, current ? state.count : 0, now, phase, { remaining: 0, replenishAfter: 0, resetAfter: 0 })
  },
  expiresAt: (_plan: FixedWindowPlan, state: FixedWindowState): Micros => state.end,
  envelope({ limit, window }: FixedWindowPlan) {
    const [n, m] = reduced(limit, window)
    return { n, m, burst: 2 * limit }
  },
  codec: {
    encodePlan: (plan: FixedWindowPlan) => [plan.limit, plan.window, ALIGNS.indexOf(plan.align), plan.ramp, plan.n, plan.m],
    encodeState: (state: FixedWindowState) => [state.end, state.count, state.window],
    decodeState: ([end = 0, count = 0, window = 1]: readonly number[]): FixedWindowState => ({ end, count, window }),
  },
  cells: {
    width: 2,
    save(state: FixedWindowState, cells: Float64Array, at: number): void {
      cells[at] = state.end
      cells[at + 1] = state.count
    },
    load(unit: FixedWindowState, cells: Float64Array, at: number, into: FixedWindowState): void {
      into.end = cells[at] as number
      into.count = cells[at + 1] as number
      into.window = unit.window
    },
    sameUnit: (one: FixedWindowState, other: FixedWindowState) => one.window === other.window,
    unit: ({ window }: FixedWindowState) => [window],
  },
})

function decide(
  plan: FixedWindowPlan,
  state: FixedWindowState | undefined,
  now: Micros,
  cost: MicroTokens,
  phase: number,
  into: Step<FixedWindowState> = fixedWindowKernel.step(),
): Step<FixedWindowState> {
  let { window } = plan
  let end = 0
  let count = 0
  if (state !== undefined && now < state.end) ({ end, count, window } = state)
  else end = freshEnd(plan, now, phase)
  const start = end - window
  if (cost > plan.limit) {
    into.outcome = 'impossible'
    into.retryAfter = 0
    into.state = state
  } else if (cost > budget(plan, now - start) - count) {
    into.outcome = 'denied'
    into.retryAfter = fitsAt(plan, start, end, count, cost, phase) - now
    into.state = state
  } else {
    count += cost
    const { next } = into
    next.end = end
    next.count = count
    next.window = window
    into.outcome = 'allowed'
    into.retryAfter = 0
    into.state = next
  }
  look(plan, start, end, count, now, phase, into)
  return into
}

/**
 * A longer window prolongs the one that runs: `first` keeps its start, the others end where the new plan's window does, and not
 * earlier than they would have. A shorter one is for the windows after it (law 7).
 */
function adopt(plan: FixedWindowPlan, state: FixedWindowState, now: Micros, phase: number): FixedWindowState | undefined {
  if (state.window >= plan.window) return state
  if (now >= state.end) return undefined
  const { window } = plan
  const end = plan.align === 'first' ? state.end - state.window + window : Math.max(state.end, freshEnd(plan, now, phase))
  return { end, count: state.count, window }
}

/** Penalties count up to twice the limit; a refund is for the window that the receipt is of. */
function adjust(
  plan: FixedWindowPlan,
  state: FixedWindowState | undefined,
  now: Micros,
  amount: MicroTokens,
  phase: number,
  receipt?: Micros,
): FixedWindowState | undefined {
  const running = state !== undefined && now < state.end ? state : undefined
  if (amount > 0) {
    if (running === undefined || (receipt !== undefined && receipt < running.end - running.window)) return state
    return amount >= running.count ? undefined : { ...running, count: running.count - amount }
  }
  const { end, count, window } = running ?? { end: freshEnd(plan, now, phase), count: 0, window: plan.window }
  if (count >= 2 * plan.limit) return state
  return { end, count: Math.min(2 * plan.limit, count - amount), window }
}

/** The end of a window in which nothing was charged yet. */
function freshEnd({ align, window }: FixedWindowPlan, now: Micros, phase: number): Micros {
  if (align === 'first') return now + window
  return alignedEnd(window, now, align === 'key' ? shiftOf(window, phase) : 0)
}

/** floor(phase * window / 2^32), exact though the product passes 2^53: by halves of 16 bits. */
export function shiftOf(window: Micros, phase: number): Micros {
  const whole = Math.floor(window / 4_294_967_296)
  const part = window - whole * 4_294_967_296
  const high = Math.floor(part / 65_536)
  const first = phase * high
  const quotient = Math.floor(first / 65_536)
  const carried = (first - quotient * 65_536) * 65_536 + phase * (part - high * 65_536)
  return phase * whole + quotient + Math.floor(carried / 4_294_967_296)
}

/** What may be taken in all, so long after the start of a window. */
function budget(plan: FixedWindowPlan, elapsed: Micros): MicroTokens {
  if (plan.ramp === 0 || elapsed >= plan.ramp) return plan.limit
  return Math.min(plan.limit, Math.max(MICRO, Math.floor((Math.max(0, elapsed) * plan.n) / plan.m)))
}

/** How long after the start of a window the ramp lets so much through in all. */
function rampTo(plan: FixedWindowPlan, used: MicroTokens): Micros {
  return plan.ramp === 0 || used <= MICRO ? 0 : Math.ceil((used * plan.m) / plan.n)
}

/** First instant at which a cost fits that does not fit now: in this window's ramp, or after its end, in the next one's. */
function fitsAt(plan: FixedWindowPlan, start: Micros, end: Micros, count: MicroTokens, cost: MicroTokens, phase: number): Micros {
  if (cost <= plan.limit - count) return start + rampTo(plan, count + cost)
  if (plan.ramp === 0) return end
  return Math.max(end, freshEnd(plan, end, phase) - plan.window + rampTo(plan, cost))
}

function look<V extends View>(
  plan: FixedWindowPlan,
  start: Micros,
  end: Micros,
  count: MicroTokens,
  now: Micros,
  phase: number,
  into: V,
): V {
  const remaining = Math.floor(Math.max(0, budget(plan, now - start) - count) / MICRO)
  const more = (remaining + 1) * MICRO
  into.remaining = remaining
  into.resetAfter = count > 0 ? end - now : 0
  into.replenishAfter = more > plan.limit ? into.resetAfter : fitsAt(plan, start, end, count, more, phase) - now
  return into
}
