import type { Algorithm, AnyLimit, CallOutcome, Step } from '../../algorithms/algorithm.ts'
import type { Micros } from '../../time/micros.ts'

/** Outcomes, by the numbers that programs write for them. */
export const OUTCOMES: readonly CallOutcome[] = ['allowed', 'denied', 'impossible']

/** Outcome, retryAfter, remaining, replenishAfter, resetAfter. */
export const REPORTED = 5

interface Reported extends Omit<Step<undefined>, 'next'> {
  /** The store time at which the program decided. */
  readonly at: Micros
}

/** For each algorithm, a copy that decides nothing itself: it returns the verdict that the server reported. */
const KERNELS = new Map<AnyLimit['algorithm'], Algorithm<Reported, undefined>>()

function kernelOf(algorithm: AnyLimit['algorithm']): Algorithm<Reported, undefined> {
  const known = KERNELS.get(algorithm)
  if (known !== undefined) return known
  const made = { ...algorithm, adopt: () => undefined, decide, view: (reported: Reported) => reported } as never
  KERNELS.set(algorithm, made)
  return made
}

/**
 * Returns the server's verdict. At later instants, by which `applyGroup` finds a denied group's wait, the reported wait is shorter, and the
 * call is allowed once the wait is over.
 */
function decide(reported: Reported, _state: unknown, now: Micros): Reported {
  const passed = now - reported.at
  if (reported.outcome !== 'denied' || passed === 0) return reported
  const left = reported.retryAfter - passed
  return left > 0 ? { ...reported, retryAfter: left } : { ...reported, outcome: 'allowed', retryAfter: 0 }
}

/** A limit whose algorithm returns the verdict of a program (Lua, SQL), so that `applyGroup` needs no state. Undefined for an invalid outcome. */
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
