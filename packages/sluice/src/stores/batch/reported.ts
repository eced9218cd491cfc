import type { Algorithm, AnyLimit, CallOutcome, Step } from '../../algorithms/algorithm.ts'
import type { Micros } from '../../time/micros.ts'

/** Outcomes, by the numbers that programs write for them. */
export const OUTCOMES: readonly CallOutcome[] = ['allowed', 'denied', 'impossible']

/** How many numbers a verdict has in a reply: outcome, retryAfter, remaining, replenishAfter, resetAfter. */
export const REPORTED = 5

interface Reported extends Omit<Step<undefined>, 'next'> {
  /** The store time at which the program decided. */
  readonly at: Micros
}

/**
 * For each algorithm, a kernel that computes nothing: it returns the verdict which a program has reported. The verdict is in the field
 * `plan` of the limit, which has the limit's numbers in other kernels.
 */
const KERNELS = new Map<AnyLimit['algorithm'], Algorithm<Reported, undefined>>()

function kernelOf(algorithm: AnyLimit['algorithm']): Algorithm<Reported, undefined> {
  const known = KERNELS.get(algorithm)
  if (known !== undefined) return known
  const made = { ...algorithm, adopt: () => undefined, decide, view: (reported: Reported) => reported } as never
  KERNELS.set(algorithm, made)
  return made
}

/**
 * Returns the reported verdict. If it is a denial, and `now` is later than the program's decision, the wait is shorter by the difference.
 * If the wait is over, the call is allowed: without new charges, entries only leave a log, so a denied call can pass then.
 */
function decide(reported: Reported, _state: unknown, now: Micros): Reported {
  const passed = now - reported.at
  if (reported.outcome !== 'denied' || passed === 0) return reported
  const left = reported.retryAfter - passed
  return left > 0 ? { ...reported, retryAfter: left } : { ...reported, outcome: 'allowed', retryAfter: 0 }
}

/**
 * Makes a limit whose kernel returns the verdict that a program has reported. So `applyGroup` can decide a group with this limit without
 * its state. Returns undefined if the number of the outcome is invalid.
 * @param at the store time at which the program decided
 */
export function reportedLimit(
  limit: AnyLimit,
  [which = -1, retryAfter = 0, remaining = 0, replenishAfter = 0, resetAfter = 0]: readonly number[],
  at: Micros,
): AnyLimit | undefined {
  const outcome = OUTCOMES[which]
  if (outcome === undefined) return undefined
  const plan: Reported = { outcome, retryAfter, remaining, replenishAfter, resetAfter, state: undefined, at }
  return { ...limit, algorithm: kernelOf(limit.algorithm) as never, plan }
}
