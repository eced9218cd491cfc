import type { AnyLimit, CallOutcome, Step } from '../algorithms/algorithm.ts'
import { slidingWindowLogKernel } from '../algorithms/sliding-window-log.ts'
import type { Micros } from '../time/micros.ts'

/** Outcomes as programs write them, by number. */
export const OUTCOMES: readonly CallOutcome[] = ['allowed', 'denied', 'impossible']

/** Numbers of a verdict that a program tells: outcome, retryAfter, remaining, replenishAfter, resetAfter. */
export const TOLD = 5

interface Told extends Omit<Step<undefined>, 'next'> {
  /** When the program decided. */
  readonly at: Micros
}

/** In the place of a kernel whose verdicts are told: its plan is the verdict. */
const KERNEL = { ...slidingWindowLogKernel, adopt: () => undefined, decide, view: (told: Told) => told }

/** What was told, or at a later time what follows from it: entries only leave a log that nobody charges, so what passes once passes from then on. */
function decide(told: Told, _state: unknown, now: Micros): Told {
  const passed = now - told.at
  if (told.outcome !== 'denied' || passed === 0) return told
  const left = told.retryAfter - passed
  return left > 0 ? { ...told, retryAfter: left } : { ...told, outcome: 'allowed', retryAfter: 0 }
}

/**
 * A limit for the reference driver that says what a program told of it, where the state stays with the program since it may be long.
 * Undefined where the outcome is none.
 * @param at when the program decided
 */
export function toldLimit(
  limit: AnyLimit,
  [which = -1, retryAfter = 0, remaining = 0, replenishAfter = 0, resetAfter = 0]: readonly number[],
  at: Micros,
): AnyLimit | undefined {
  const outcome = OUTCOMES[which]
  if (outcome === undefined) return undefined
  const plan: Told = { outcome, retryAfter, remaining, replenishAfter, resetAfter, state: undefined, at }
  return { ...limit, algorithm: KERNEL as never, plan }
}
