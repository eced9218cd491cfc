import { hash32 } from '../decision/jitter.ts'
import { LimiterError } from '../errors/limiter-error.ts'
import { refuseUnknown, shown } from '../errors/options.ts'
import { parsePeriod } from '../time/duration.ts'
import { LAST_INSTANT_AFTER, type Micros } from '../time/micros.ts'
import type { Algorithm, CompiledLimit, MicroTokens, Step, View } from './algorithm.ts'
import { reduced } from './bucket-plan.ts'
import { compiled, stepOf } from './compiled.ts'
import { MICRO } from './decimal.ts'
import { type Align, budget, type FixedWindowPlan, freshEnd, rampTo } from './fixed-window-plan.ts'
import {
  ABSENT,
  adopt,
  begun,
  BOTH,
  fitsLater,
  type FixedWindowState,
  freshAt,
  isSpent,
  partAt,
  passesAfter,
  SPENT,
  turnOf,
  wholeAt,
} from './window-turns.ts'
import { readWindow, refuseEndless, type WindowOptions } from './window.ts'

const ALIGNS: readonly Align[] = ['clock', 'first', 'key']

export interface FixedWindowOptions extends WindowOptions {
  /** Default `clock`. */
  readonly align?: Align
  /** Soft start: for this long after a reset, the limit grows from one token to all. Shorter than the window. Not with align `first`. */
  readonly ramp?: string | number
}

/**
 * A fixed window: at most `limit` tokens in each window, then a reset. An interval shorter than the window, around a reset, may admit twice
 * the limit; a sliding window avoids this (Rate Limiting at Scale).
 * @throws LimiterError INVALID_OPTIONS, INVALID_LIMIT, INVALID_DURATION, or LIMIT_NOT_EXACT if whole numbers below 2^53 cannot represent
 * the limit
 */
export function fixedWindow(options: FixedWindowOptions): CompiledLimit<FixedWindowPlan, FixedWindowState> {
  refuseUnknown('fixedWindow', options, ['limit', 'window', 'align', 'ramp'])
  const { limit, window } = readWindow('fixedWindow', options)
  const { align = 'clock' } = options
  if (!ALIGNS.includes(align)) {
    throw new LimiterError('INVALID_OPTIONS', `fixedWindow: align is ${shown(align)}, expected clock, first or key`)
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
  return compiled(fixedWindowKernel, Object.freeze({ limit, window, align, ramp, n, m }), limit, window, {
    phased: align === 'key',
    ...(ramp === 0 ? {} : { ramped: true }),
  })
}

function readRamp(options: FixedWindowOptions, window: Micros, align: Align): Micros {
  const ramp = parsePeriod(options.ramp as string | number, 'fixedWindow: ramp: ')
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
  phaseOf: (key: string) => hash32(key),
  step: () => stepOf<FixedWindowState>({ end: 0.5, count: 0.5, window: 0.5, turn: 0 }),
  decide,
  adopt,
  adjust,
  view(plan: FixedWindowPlan, state: FixedWindowState | undefined, now: Micros, phase: number): View {
    const { start, end, window, turn, base, used } = partNow(plan, state, now, phase)
    const into = { remaining: 0, replenishAfter: 0, resetAfter: 0 }
    return fillView(plan, state, start, end, window, turn, base, used, now, phase, into)
  },
  expiresAt: (_plan: FixedWindowPlan, state: FixedWindowState): Micros => freshAt(state),
  envelope({ limit, window }: FixedWindowPlan) {
    const [n, m] = reduced(limit, window)
    return { n, m, burst: 2 * limit }
  },
  codec: {
    encodePlan: (plan: FixedWindowPlan) => [plan.limit, plan.window, ALIGNS.indexOf(plan.align), plan.ramp, plan.n, plan.m],
    encodeState: (state: FixedWindowState) => [state.end, state.count, state.window, state.turn],
    decodeState([end = 0, count = 0, window = 1, turn = 0]: readonly number[]): FixedWindowState {
      return { end, count, window, turn }
    },
  },
  cells: {
    width: 2,
    save(state: FixedWindowState, cells: Float64Array, at: number): void {
      cells[at] = state.end
      cells[at + 1] = state.count
    },
    load(sample: FixedWindowState, cells: Float64Array, at: number, into: FixedWindowState): void {
      into.end = cells[at] as number
      into.count = cells[at + 1] as number
      into.window = sample.window
      into.turn = sample.turn
    },
    samePlan: (one: FixedWindowState, other: FixedWindowState) => one.window === other.window && one.turn === other.turn,
    planNumbers: ({ window, turn }: FixedWindowState) => [window, turn],
  },
})

/** The window in which a charge at this instant counts. */
function windowAt(plan: FixedWindowPlan, state: FixedWindowState | undefined, now: Micros, phase: number): FixedWindowState {
  if (state !== undefined && now < state.end) return state
  if (state !== undefined) return begun(plan, state, now, phase)
  return { end: freshEnd(plan, now, phase), count: 0, window: plan.window, turn: 0 }
}

/** As `windowAt`, with what was admitted before the current part (`base`) and what was taken in it (`used`). */
function partNow(plan: FixedWindowPlan, state: FixedWindowState | undefined, now: Micros, phase: number) {
  const { end, count, window, turn } = windowAt(plan, state, now, phase)
  const part = turn >= ABSENT ? partAt(plan, end, window, now) : 0
  const base = part * plan.limit
  const used = Math.max(0, count - base)
  const start = end - window + part * plan.window
  if (isSpent(plan, turn, base)) return { start, end, window: end - start, turn: SPENT, base: 0, used }
  return { start, end, window, turn, base, used }
}

function decide(
  plan: FixedWindowPlan,
  state: FixedWindowState | undefined,
  now: Micros,
  cost: MicroTokens,
  phase: number,
  into: Step<FixedWindowState> = fixedWindowKernel.step(),
): Step<FixedWindowState> {
  // As `partNow`, without allocating an object while the window runs: every request comes here.
  const { limit } = plan
  let { window } = plan
  let end = 0
  let count = 0
  let turn = 0
  if (state !== undefined && now < state.end) ({ end, count, window, turn } = state)
  else if (state !== undefined) ({ end, count, window, turn } = begun(plan, state, now, phase))
  else end = freshEnd(plan, now, phase)
  // Slow path: the plan divides the window of an absent longer plan into parts. The count then begins with what earlier parts had.
  const part = turn >= ABSENT ? partAt(plan, end, window, now) : 0
  let base = part * limit
  const used = count > base ? count - base : 0
  const start = end - window + part * plan.window
  if (turn >= ABSENT && isSpent(plan, turn, base)) {
    window = end - start
    turn = SPENT
    base = 0
  }
  if (cost > limit) {
    into.outcome = 'impossible'
    into.retryAfter = 0
    into.state = state
    fillView(plan, state, start, end, window, turn, base, used, now, phase, into)
  } else if (cost > budget(plan, now - start) - used) {
    into.outcome = 'denied'
    into.retryAfter = fitsAt(plan, state, start, end, window, turn, base, used, cost, now, phase) - now
    into.state = state
    fillView(plan, state, start, end, window, turn, base, used, now, phase, into)
  } else {
    const { next } = into
    next.end = end
    next.count = base + used + cost
    next.window = window
    next.turn = turnOf(turn, next.count, limit)
    into.outcome = 'allowed'
    into.retryAfter = 0
    into.state = next
    fillView(plan, next, start, end, window, next.turn, base, used + cost, now, phase, into)
  }
  return into
}

/** Penalties raise the count to at most twice the limit. A refund applies only to the window of its receipt. */
function adjust(
  plan: FixedWindowPlan,
  state: FixedWindowState | undefined,
  now: Micros,
  amount: MicroTokens,
  phase: number,
  receipt?: Micros,
): FixedWindowState | undefined {
  const { start, end, window, turn, base, used } = partNow(plan, state, now, phase)
  if (amount > 0) {
    if (used === 0 || (receipt !== undefined && receipt < start)) return state
    const left = base + used - Math.min(amount, used)
    return left === 0 && turn < BOTH ? undefined : { end, count: left, window, turn: turnOf(turn, left, plan.limit) }
  }
  if (used >= 2 * plan.limit) return state
  const taken = base + Math.min(2 * plan.limit, used - amount)
  return { end, count: taken, window, turn: turnOf(turn, taken, plan.limit) }
}

/** The first instant at which a cost fits that does not fit now. It is in this window's ramp, in its next parts, or in the next window. */
function fitsAt(
  plan: FixedWindowPlan,
  state: FixedWindowState | undefined,
  start: Micros,
  end: Micros,
  window: Micros,
  turn: number,
  base: MicroTokens,
  used: MicroTokens,
  cost: MicroTokens,
  now: Micros,
  phase: number,
): Micros {
  if (plan.ramp > 0 && state !== undefined && now >= state.end) return passesAfter(plan, state, now, cost, phase)
  if (cost <= plan.limit - used) return start + rampTo(plan, used + cost)
  if (turn < BOTH && plan.ramp === 0) return end
  return fitsLater(plan, end, window, turn, base, used, cost, phase)
}

function fillView<V extends View>(
  plan: FixedWindowPlan,
  state: FixedWindowState | undefined,
  start: Micros,
  end: Micros,
  window: Micros,
  turn: number,
  base: MicroTokens,
  used: MicroTokens,
  now: Micros,
  phase: number,
  into: V,
): V {
  const remaining = Math.floor(Math.max(0, budget(plan, now - start) - used) / MICRO)
  const more = (remaining + 1) * MICRO
  into.remaining = remaining
  into.resetAfter = used === 0 ? 0 : (turn >= ABSENT ? wholeAt(plan, end, window, base, used) : end) - now
  into.replenishAfter =
    more > plan.limit ? into.resetAfter : fitsAt(plan, state, start, end, window, turn, base, used, more, now, phase) - now
  return into
}
