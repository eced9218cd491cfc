import type { Micros } from '../time/micros.ts'
import type { MicroTokens } from './algorithm.ts'
import { MICRO } from './decimal.ts'
import { type FixedWindowPlan as Plan, freshEnd, rampTo } from './fixed-window-plan.ts'

// Rules for a key that is called under limits with windows of different lengths, such as two versions of a policy:
// docs/algorithms/fixed-window.md. The reasons: docs/decisions/0006.

/**
 * `count` was taken in the window that ends at `end`. `window` is the longest window of the limits called in it (if `turn` is `ABSENT` or
 * `SPENT`, see there). `turn` is below `BOTH` if the windows of all these limits have one length. `count` is then up to a 64th (0), a 16th
 * (1), a quarter (2) or all (3) of the limit.
 */
export interface FixedWindowState {
  end: Micros
  count: MicroTokens
  window: Micros
  turn: number
}

/**
 * A window, or a part of a window (as long as the called limit's window, `partAt`). Before this part `base` tokens count as taken, in this
 * part `used`.
 */
export interface WindowPart extends Omit<FixedWindowState, 'count'> {
  start: Micros
  base: MicroTokens
  used: MicroTokens
}

/** `turn` if limits with windows of different lengths were called, in this window or in this and the one before. */
export const BOTH = 4
/**
 * `turn` if so far only limits with windows shorter than `window` were called, but in the window before also one with this `window`. The
 * window is divided into parts (`partAt`).
 */
export const ABSENT = 5
/**
 * `turn` as `ABSENT`, if the count became too large for exact numbers, and began again in one part of the window (`partAt`). `window` and
 * `count` are those of the rest of the window from that part on. A limit with a longer window has no tokens left.
 */
export const SPENT = 6

/**
 * The state's `turn` (see there) after its count changed. As long as only limits with windows of one length were called, it is 0, 1, 2 or 3,
 * greater for a greater count. `BOTH`, `ABSENT` and `SPENT` do not change.
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
 * Converts a state to a limit with a window of another length. The current window may be prolonged to the end of the window that the call
 * would begin without a state. With align `first`, a limit with a longer window prolongs it from the same start.
 * @returns undefined, as for an unused key, only if the state is expired
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
 * The window that a call begins at `now`, after `before`. If a limit with a longer window was called in `before`, the new window is as
 * long, so that this limit finds what was charged. Otherwise it is the window of the call's limit. If that would begin within
 * `before`, it ends one window later.
 */
export function begun(plan: Plan, before: FixedWindowState, now: Micros, phase: number): FixedWindowState {
  const own = freshEnd(plan, now, phase)
  if (now >= freshAt(before)) return { end: own, count: 0, window: plan.window, turn: 0 }
  const { end, window, turn } = before
  if (plan.window > window) return { end: Math.max(own, end + window), count: 0, window: plan.window, turn: BOTH }
  if (plan.window < window && turn < ABSENT) return { end: end + window, count: 0, window, turn: ABSENT }
  const isWithin = own - plan.window < end
  return { end: isWithin ? own + plan.window : own, count: 0, window: plan.window, turn: 0 }
}

/**
 * The index of the part at `now`. While a limit with a longer window is not called, its window is divided into parts as long as the window
 * of this limit. Tokens that are not taken in a part are lost. The last part is longer if the lengths do not divide.
 */
export function partAt(plan: Plan, end: Micros, window: Micros, now: Micros): number {
  const part = Math.floor((now - end + window) / plan.window)
  return Math.max(0, Math.min(part, lastPart(plan, window)))
}

function lastPart({ window }: Plan, longer: Micros): number {
  return Math.max(0, Math.floor(longer / window) - 1)
}

/**
 * Whether the count has to begin again from 0 in this part of the window (`partAt`), because it might exceed 2^53 - 1. Penalties raise the
 * tokens taken in one part to at most twice the limit.
 */
export function isSpent({ limit }: Plan, turn: number, base: MicroTokens): boolean {
  return turn === SPENT || (turn === ABSENT && base > Number.MAX_SAFE_INTEGER - 2 * limit)
}

/** The first instant at which a cost fits after this window, or after this part of a divided window (`partAt`). */
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
 * The first instant from `from` on at which a cost passes under a limit with a ramp. Denials write no window, so each instant is tried with
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

/** When the limit has all its tokens again, in a window that is divided into parts (`partAt`). */
export function wholeAt(plan: Plan, { end, window, base, used }: WindowPart): Micros {
  const next = base / plan.limit + partsOf(used, plan.limit)
  return next <= lastPart(plan, window) ? end - window + next * plan.window : end
}

/** Exact even near 2^53, where doubles have no fractions. */
function partsOf(count: MicroTokens, limit: MicroTokens): number {
  const rest = count % limit
  return (count - rest) / limit + (rest > 0 ? 1 : 0)
}
