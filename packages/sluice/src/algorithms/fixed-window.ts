import { hash32 } from '../decision/jitter.ts'
import { LimiterError } from '../errors/limiter-error.ts'
import { shown } from '../errors/options.ts'
import { parsePeriod } from '../time/duration.ts'
import { LAST_INSTANT_AFTER, type Micros } from '../time/micros.ts'
import type { Algorithm, AnyLimit, MicroTokens, View } from './algorithm.ts'
import { reduced } from './bucket-plan.ts'
import { compiled, emptyView, kernel, stepOf } from './compiled.ts'
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
  type WindowPart,
} from './window-turns.ts'
import { envelopeOf, readWindow, refuseEndless, type WindowOptions } from './window.ts'

const ALIGNS: readonly Align[] = ['clock', 'first', 'key']

/** Options of a fixed window. */
export interface FixedWindowOptions extends WindowOptions {
  /** When windows begin; default `clock`. */
  readonly align?: Align | undefined
  /**
   * A soft start: for this long after a reset, the limit grows from one token to the full limit. Must be shorter than the window. Not with
   * align `first`.
   */
  readonly ramp?: string | number | undefined
}

/**
 * At most `limit` tokens in each window, then a reset. An interval around a reset may admit twice the limit; a sliding window avoids this.
 * @throws LimiterError INVALID_OPTIONS, INVALID_LIMIT, INVALID_DURATION, or LIMIT_NOT_EXACT if whole numbers below 2^53 cannot represent
 * the limit
 */
export function fixedWindow(options: FixedWindowOptions): AnyLimit {
  const { limit, window } = readWindow('fixedWindow', options, ['limit', 'window', 'align', 'ramp'])
  const { align = 'clock' } = options
  if (!ALIGNS.includes(align)) {
    throw invalid(`align is ${shown(align)}, expected clock, first or key`)
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
    throw invalid(
      'ramp goes with align clock or key; a window that starts at its first charge would never start where the ramp denies that one',
    )
  }
  if (ramp < window) return ramp
  throw invalid(`ramp is ${options.ramp}, expected shorter than the window of ${options.window}`)
}

function invalid(problem: string): LimiterError {
  return new LimiterError('INVALID_OPTIONS', `fixedWindow: ${problem}`)
}

export const fixedWindowKernel: Algorithm<FixedWindowPlan, FixedWindowState> = kernel({
  name: 'fixed-window',
  tag: 'fw',
  phaseOf: (key) => hash32(key),
  step: () => stepOf<FixedWindowState>({ end: 0.5, count: 0.5, window: 0.5, turn: 0 }),
  decide(plan, state, now, cost, phase, into = fixedWindowKernel.step()) {
    const part = partNow(plan, state, now, phase)
    if (cost <= plan.limit && cost <= budget(plan, now - part.start) - part.used) {
      const { next } = into
      part.used += cost
      next.end = part.end
      next.count = part.base + part.used
      next.window = part.window
      next.turn = turnOf(part.turn, next.count, plan.limit)
      part.turn = next.turn
      into.outcome = 'allowed'
      into.retryAfter = 0
      into.state = next
    } else {
      const possible = cost <= plan.limit
      into.outcome = possible ? 'denied' : 'impossible'
      into.retryAfter = possible ? fitsAt(plan, state, part, cost, now, phase) - now : 0
      into.state = state
    }
    fillView(plan, into.state, part, now, phase, into)
    return into
  },
  adopt,
  /**
   * Penalties raise the count to at most twice the limit. A refund gives back only charges of the current window, or of its current part
   * if the window is divided (`partAt`).
   */
  adjust(plan, state, now, amount, phase, receipt) {
    const { start, end, window, turn, base, used } = partNow(plan, state, now, phase)
    if (amount > 0) {
      if (used === 0 || (receipt !== undefined && receipt < start)) return state
      const left = base + used - Math.min(amount, used)
      return left === 0 && turn < BOTH ? undefined : { end, count: left, window, turn: turnOf(turn, left, plan.limit) }
    }
    if (used >= 2 * plan.limit) return state
    const taken = base + Math.min(2 * plan.limit, used - amount)
    return { end, count: taken, window, turn: turnOf(turn, taken, plan.limit) }
  },
  /**
   * Gives unused tokens back to the window of the charge, unless that window has ended. Charges additional use to the current window, up to
   * twice the limit.
   */
  settle(plan, state, now, { held, actual, at }, phase) {
    const { start, used } = partNow(plan, state, now, phase)
    const back = at < start ? 0 : Math.min(Math.max(0, held - actual), used)
    const more = Math.max(0, Math.min(actual - held, 2 * plan.limit - used))
    if (back === 0 && more === 0) return { state, charged: held }
    return { state: fixedWindowKernel.adjust(plan, state, now, back - more, phase, at), charged: held - back + more }
  },
  view: (plan, state, now, phase) => fillView(plan, state, partNow(plan, state, now, phase), now, phase, emptyView()),
  expiresAt: (_plan, state) => freshAt(state),
  envelope: ({ limit, window }) => envelopeOf(limit, window, 2 * limit),
  codec: {
    encodePlan: ({ limit, window, align, ramp, n, m }) => [limit, window, ALIGNS.indexOf(align), ramp, n, m],
    encodeState: ({ end, count, window, turn }) => [end, count, window, turn],
    decodeState: ([end = 0, count = 0, window = 1, turn = 0]) => ({ end, count, window, turn }),
  },
  cells: {
    width: 2,
    save(state, cells, at) {
      cells[at] = state.end
      cells[at + 1] = state.count
    },
    load(sample, cells, at, into) {
      into.end = cells[at] as number
      into.count = cells[at + 1] as number
      into.window = sample.window
      into.turn = sample.turn
    },
    samePlan: (one, other) => one.window === other.window && one.turn === other.turn,
    planNumbers: ({ window, turn }) => [window, turn],
  },
})

type Plan = FixedWindowPlan
type State = FixedWindowState | undefined

/** The window of a charge at `now`, or its part at `now` if the window is divided (`partAt`). */
function partNow(plan: Plan, state: State, now: Micros, phase: number): WindowPart {
  const part = PART
  part.turn = 0
  part.window = plan.window
  part.base = 0
  let count = 0
  if (state === undefined) part.end = freshEnd(plan, now, phase)
  else {
    const window = now < state.end ? state : begun(plan, state, now, phase)
    part.end = window.end
    part.window = window.window
    part.turn = window.turn
    count = window.count
  }
  part.start = part.end - part.window
  part.used = count
  if (part.turn >= ABSENT) divide(plan, part, count, now)
  return part
}

/** Overwritten by each call, so that decisions allocate nothing. */
const PART: WindowPart = { start: 0.5, end: 0.5, window: 0.5, turn: 0, base: 0.5, used: 0.5 }

/** `part` is a window with this `count`, and becomes the part of the window at `now` (as long as the plan's window). */
function divide(plan: Plan, part: WindowPart, count: MicroTokens, now: Micros): void {
  const index = partAt(plan, part.end, part.window, now)
  part.start += index * plan.window
  part.base = index * plan.limit
  part.used = Math.max(0, count - part.base)
  if (!isSpent(plan, part.turn, part.base)) return
  part.window = part.end - part.start
  part.turn = SPENT
  part.base = 0
}

/** The first instant at which the cost fits. */
function fitsAt(plan: Plan, state: State, part: WindowPart, cost: MicroTokens, now: Micros, phase: number): Micros {
  if (plan.ramp > 0 && state !== undefined && now >= state.end) return passesAfter(plan, state, now, cost, phase)
  if (cost <= plan.limit - part.used) return part.start + rampTo(plan, part.used + cost)
  if (part.turn < BOTH && plan.ramp === 0) return part.end
  return fitsLater(plan, part, cost, phase)
}

function fillView<V extends View>(plan: Plan, state: State, part: WindowPart, now: Micros, phase: number, into: V): V {
  const remaining = Math.floor(Math.max(0, budget(plan, now - part.start) - part.used) / MICRO)
  const more = (remaining + 1) * MICRO
  into.remaining = remaining
  into.resetAfter = part.used === 0 ? 0 : (part.turn >= ABSENT ? wholeAt(plan, part) : part.end) - now
  into.replenishAfter = more > plan.limit ? into.resetAfter : fitsAt(plan, state, part, more, now, phase) - now
  return into
}
