import type { AnyLimit, CallOutcome, Step } from '../algorithms/algorithm.ts'
import { slidingWindowLogKernel } from '../algorithms/sliding-window-log.ts'

/** Outcomes as programs write them, by number. */
export const OUTCOMES: readonly CallOutcome[] = ['allowed', 'denied', 'impossible']

/** Numbers of a verdict that a program tells: outcome, retryAfter, remaining, replenishAfter, resetAfter. */
export const TOLD = 5

type Told = Omit<Step<undefined>, 'next'>

/** In the place of a kernel whose verdicts are told: its plan is the verdict. */
const KERNEL = { ...slidingWindowLogKernel, adopt: () => undefined, decide: (told: Told) => told, view: (told: Told) => told }

/**
 * A limit for the reference driver that says what a program told of it, where the state stays with the program since it may be long.
 * Undefined where the outcome is none.
 */
export function toldLimit(
  limit: AnyLimit,
  [which = -1, retryAfter = 0, remaining = 0, replenishAfter = 0, resetAfter = 0]: readonly number[],
): AnyLimit | undefined {
  const outcome = OUTCOMES[which]
  if (outcome === undefined) return undefined
  const plan: Told = { outcome, retryAfter, remaining, replenishAfter, resetAfter, state: undefined }
  return { ...limit, algorithm: KERNEL as never, plan }
}
