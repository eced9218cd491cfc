import type { Micros } from '../time/micros.ts'
import type { MicroTokens } from './algorithm.ts'
import { MICRO } from './decimal.ts'
import { type FixedWindowPlan, freshEnd, rampTo } from './fixed-window-plan.ts'

// Fixed windows of a key whose plans alternate (law 7; docs/decisions/0006). Windows of a key follow each other and never overlap. A window
// and the time for which it is remembered last as long as its count takes to be refilled at a plan's rate. So no change of plan mints
// tokens.

/**
 * `count` was taken in the window that ends at `end`. `window` is the length of the longest plan that this window is for. `turn` says which
 * plans were called in it:
 * - below `BOTH`: one plan alone, which took up to a 64th (0), a 16th (1), a quarter (2) or all (3) of its limit
 * - `BOTH`: a shorter plan too
 * - `ABSENT`: the longer plan was called in the previous window and not yet in this one
 * - `SPENT`: as `ABSENT`, and more was admitted than whole numbers count. `window` and `count` are then those of the rest of the window,
 * from one part on, and a longer plan finds nothing left.
 */
export interface FixedWindowState {
  end: Micros
  count: MicroTokens
  window: Micros
  turn: number
}

export const BOTH = 4
export const ABSENT = 5
export const SPENT = 6

/**
 * The `turn` after a charge. A plan that is alone has its state remembered for as long after its end as its count takes to be refilled, or
 * slightly longer.
 */
export function turnOf(turn: number, count: MicroTokens, limit: MicroTokens): number {
  if (turn >= BOTH) return turn
  if (count * 4 > limit) return 3
  return count * 16 > limit ? 2 : count * 64 > limit ? 1 : 0
}

/** The first instant from which the state is expired. */
export function freshAt({ end, window, turn }: FixedWindowState): Micros {
  return end + (turn >= 3 ? window : Math.ceil(window / (turn === 2 ? 4 : turn === 1 ? 16 : 64)))
}

/**
 * A longer plan extends the current window. With `first` the window keeps its start. Otherwise it ends with the new plan's window, and no
 * earlier than before. A shorter plan keeps the current window, which ends no earlier than a window of that plan.
 * @returns the state converted to the plan; the same object if nothing changes, undefined if it is fresh
 */
export function adopt(plan: FixedWindowPlan, state: FixedWindowState, now: Micros, phase: number): FixedWindowState | undefined {
  const { end, count, window, turn } = state
  if (plan.window === window && turn < ABSENT) return state
  if (now >= end) return now < freshAt(state) ? state : undefined
  if (turn === SPENT) return plan.window > window ? { end, count: Number.MAX_SAFE_INTEGER, window: plan.window, turn: BOTH } : state
  if (plan.window === window) return { end, count, window, turn: BOTH }
  if (plan.window > window) {
    const prolonged = plan.align === 'first' ? end - window + plan.window : Math.max(end, freshEnd(plan, now, phase))
    return { end: prolonged, count, window: plan.window, turn: BOTH }
  }
  return turn >= BOTH ? state : { end: Math.max(end, freshEnd(plan, now, phase)), count, window, turn: BOTH }
}

/**
 * The window that begins now, after one that is remembered or expired. A shorter plan begins a window as long as the previous one, so that
 * the longer plan finds what was charged. It does not if the longer plan was absent for all of the previous window. A window that the
 * previous one would cut short is longer instead.
 */
export function begun(plan: FixedWindowPlan, before: FixedWindowState, now: Micros, phase: number): FixedWindowState {
  const own = freshEnd(plan, now, phase)
  if (now >= freshAt(before)) return { end: own, count: 0, window: plan.window, turn: 0 }
  const { end, window, turn } = before
  if (plan.window > window) return { end: Math.max(own, end + window), count: 0, window: plan.window, turn: BOTH }
  if (plan.window < window && turn < ABSENT) return { end: end + window, count: 0, window, turn: ABSENT }
  const cut = plan.align !== 'first' && own - plan.window < end
  return { end: cut ? own + plan.window : own, count: 0, window: plan.window, turn: 0 }
}

/**
 * The index, from 0, of the part of an absent longer plan's window that holds this instant. The plan takes its own limit in each part.
 * Tokens not taken in a part are lost, so the count is at least `limit` times this index. The last part is longer if the plan's window does
 * not divide the longer one.
 */
export function partAt(plan: FixedWindowPlan, end: Micros, window: Micros, now: Micros): number {
  const part = Math.floor((now - end + window) / plan.window)
  return Math.max(0, Math.min(part, lastPart(plan, window)))
}

function lastPart({ window }: FixedWindowPlan, longer: Micros): number {
  return Math.max(0, Math.floor(longer / window) - 1)
}

/**
 * Whether a window in parts is counted anew from this part on. `base` was admitted before it. With the part's count, which penalties raise
 * to twice the limit, the sum would not be a whole number below 2^53. That is more than any other plan may have.
 */
export function isSpent({ limit }: FixedWindowPlan, turn: number, base: MicroTokens): boolean {
  return turn === SPENT || (turn === ABSENT && base > Number.MAX_SAFE_INTEGER - 2 * limit)
}

/** The first instant after this part or window at which a cost fits that does not fit in it. `base` was taken before it, `used` in it. */
export function fitsLater(
  plan: FixedWindowPlan,
  end: Micros,
  window: Micros,
  turn: number,
  base: MicroTokens,
  used: MicroTokens,
  cost: MicroTokens,
  phase: number,
): Micros {
  const { limit } = plan
  if (turn >= ABSENT) {
    const more = Math.max(1, partsOf(used - limit + cost, limit))
    const next = base / limit + more
    if (next <= lastPart(plan, window)) return end - window + next * plan.window + rampTo(plan, Math.max(0, used - more * limit) + cost)
  }
  return plan.ramp === 0 ? end : passesAfter(plan, { end, count: base + used, window, turn }, end, cost, phase)
}

/**
 * The first instant from `from` on at which a cost passes that a ramp may hold back. `from` is after this window. A denial writes no new
 * window, so each instant uses the window that would begin then. After `freshAt` that is the plan's own window, possibly well into its
 * ramp.
 */
export function passesAfter(plan: FixedWindowPlan, before: FixedWindowState, from: Micros, cost: MicroTokens, phase: number): Micros {
  if (cost <= MICRO) return from
  const gone = freshAt(before)
  let at = from
  for (;;) {
    const { end, window, turn } = begun(plan, before, at, phase)
    const part = turn === ABSENT ? partAt(plan, end, window, at) : 0
    const fits = Math.max(at, end - window + part * plan.window + rampTo(plan, cost))
    const until = Math.min(end, freshEnd(plan, at, phase), at < gone ? gone : Infinity)
    if (fits < until) return fits
    at = until
  }
}

/** When a plan that divides the window into parts has its whole limit again. */
export function wholeAt(plan: FixedWindowPlan, end: Micros, window: Micros, base: MicroTokens, used: MicroTokens): Micros {
  const next = base / plan.limit + partsOf(used, plan.limit)
  return next <= lastPart(plan, window) ? end - window + next * plan.window : end
}

/** count / limit, rounded up. A quotient near 2^53 has no room for a fraction, so it uses the remainder. */
function partsOf(count: MicroTokens, limit: MicroTokens): number {
  const rest = count % limit
  return (count - rest) / limit + (rest > 0 ? 1 : 0)
}
