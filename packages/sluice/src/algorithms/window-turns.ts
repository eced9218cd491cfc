import type { Micros } from '../time/micros.ts'
import type { MicroTokens } from './algorithm.ts'
import { MICRO } from './decimal.ts'
import { type FixedWindowPlan as Plan, freshEnd, rampTo } from './fixed-window-plan.ts'

// Fixed windows of a key that is called with several plans in turn, such as two versions of a policy. Windows of a key never overlap. An
// ended window is remembered for at least as long as its plan's rate takes to refill the count. docs/decisions/0006 shows why no change of
// plan then creates tokens.

/**
 * `count` was taken in the window that ends at `end`. `window` is the length of the longest plan that this window is for. A plan is called
 * longer or shorter by the length of its window. `turn` says which plans were called in this window:
 * - below `BOTH`: one plan alone, which took up to a 64th (0), a 16th (1), a quarter (2) or all (3) of its limit
 * - `BOTH`: a longer plan and a shorter plan
 * - `ABSENT`: a shorter plan; the longer plan was called in the previous window and not yet in this one
 * - `SPENT`: as `ABSENT`, but the count became too large for exact whole numbers. `window` and `count` are then those of the rest of the
 * window, from the start of one part on (`partAt`). A longer plan finds nothing left.
 */
export interface FixedWindowState {
  end: Micros
  count: MicroTokens
  window: Micros
  turn: number
}

/**
 * A window, or a part of it: a longer window of an earlier plan is divided into parts of the current plan's length. Before this part `base`
 * tokens were taken, in this part `used`.
 */
export interface WindowPart extends Omit<FixedWindowState, 'count'> {
  start: Micros
  base: MicroTokens
  used: MicroTokens
}

export const BOTH = 4
export const ABSENT = 5
export const SPENT = 6

/** The window's `turn` at this count: if one plan alone was called in the window, 0 to 3 by the fraction of the limit that was taken. */
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
 * Converts a state to a plan with a window of another length. The current window is extended to the end of the plan's window, if that is
 * later. With align `first`, a longer plan extends it from the same start.
 * @returns undefined for an unused key's state
 */
export function adopt(plan: Plan, state: FixedWindowState, now: Micros, phase: number): FixedWindowState | undefined {
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
 * The window that a call begins at `now`, after `before`. It is as long as a longer `before`, so that the longer plan finds what was
 * charged, unless that plan was not called in `before`. An aligned window that would have begun within `before` lasts one length longer.
 */
export function begun(plan: Plan, before: FixedWindowState, now: Micros, phase: number): FixedWindowState {
  const own = freshEnd(plan, now, phase)
  if (now >= freshAt(before)) return { end: own, count: 0, window: plan.window, turn: 0 }
  const { end, window, turn } = before
  if (plan.window > window) return { end: Math.max(own, end + window), count: 0, window: plan.window, turn: BOTH }
  if (plan.window < window && turn < ABSENT) return { end: end + window, count: 0, window, turn: ABSENT }
  const cut = plan.align !== 'first' && own - plan.window < end
  return { end: cut ? own + plan.window : own, count: 0, window: plan.window, turn: 0 }
}

/**
 * The index of the part at `now`. While a plan with a longer window is not called, its window is divided into parts of this plan's length.
 * Tokens that this plan does not take in a part are lost. The last part is longer if the lengths do not divide.
 */
export function partAt(plan: Plan, end: Micros, window: Micros, now: Micros): number {
  const part = Math.floor((now - end + window) / plan.window)
  return Math.max(0, Math.min(part, lastPart(plan, window)))
}

function lastPart({ window }: Plan, longer: Micros): number {
  return Math.max(0, Math.floor(longer / window) - 1)
}

/**
 * Whether the count of tokens over all parts has to start again from 0 with this part, because it might exceed 2^53 - 1. Penalties raise
 * the tokens taken in one part to at most twice the limit.
 */
export function isSpent({ limit }: Plan, turn: number, base: MicroTokens): boolean {
  return turn === SPENT || (turn === ABSENT && base > Number.MAX_SAFE_INTEGER - 2 * limit)
}

/** The first instant after this part or window at which a cost fits. */
export function fitsLater(plan: Plan, part: WindowPart, cost: MicroTokens, phase: number): Micros {
  const { limit } = plan
  const { end, window, turn, base, used } = part
  if (turn >= ABSENT) {
    const more = Math.max(1, partsOf(used - limit + cost, limit))
    const next = base / limit + more
    if (next <= lastPart(plan, window)) return end - window + next * plan.window + rampTo(plan, Math.max(0, used - more * limit) + cost)
  }
  return plan.ramp === 0 ? end : passesAfter(plan, { end, count: base + used, window, turn }, end, cost, phase)
}

/**
 * The first instant from `from` on at which a cost passes under a plan with a ramp. Denials write no window, so each instant is tried with
 * the window that a call would begin then.
 */
export function passesAfter(plan: Plan, before: FixedWindowState, from: Micros, cost: MicroTokens, phase: number): Micros {
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

/** When the plan has its whole limit again, in a longer window that is divided into parts (`partAt`). */
export function wholeAt(plan: Plan, { end, window, base, used }: WindowPart): Micros {
  const next = base / plan.limit + partsOf(used, plan.limit)
  return next <= lastPart(plan, window) ? end - window + next * plan.window : end
}

/** Exact even near 2^53, where doubles have no fractions. */
function partsOf(count: MicroTokens, limit: MicroTokens): number {
  const rest = count % limit
  return (count - rest) / limit + (rest > 0 ? 1 : 0)
}
