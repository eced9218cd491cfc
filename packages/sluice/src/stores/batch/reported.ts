import type { Algorithm, AnyLimit, CallOutcome, Step } from '../../algorithms/algorithm.ts'
import type { Micros } from '../../time/micros.ts'

/** Outcomes as programs write them, by number. */
export const OUTCOMES: readonly CallOutcome[] = ['allowed', 'denied', 'impossible']

/** Numbers of a verdict in a reply: outcome, retryAfter, remaining, replenishAfter, resetAfter. */
export const REPORTED = 5

interface Reported extends Omit<Step<undefined>, 'next'> {
  /** When the program decided. */
  readonly at: Micros
}

/** By algorithm: the kernel whose plan is the verdict that a program reported. */
const KERNELS = new Map<AnyLimit['algorithm'], Algorithm<Reported, undefined>>()

function kernelOf(algorithm: AnyLimit['algorithm']): Algorithm<Reported, undefined> {
  const known = KERNELS.get(algorithm)
  if (known !== undefined) return known
  const made = { ...algorithm, adopt: () => undefined, decide, view: (reported: Reported) => reported } as never
  KERNELS.set(algorithm, made)
  return made
}

/**
 * The reported verdict or, for a later time, what follows from it: if nobody charges a log, entries only leave it, so what passes once
 * passes from then on.
 */
function decide(reported: Reported, _state: unknown, now: Micros): Reported {
  const passed = now - reported.at
  if (reported.outcome !== 'denied' || passed === 0) return reported
  const left = reported.retryAfter - passed
  return left > 0 ? { ...reported, retryAfter: left } : { ...reported, outcome: 'allowed', retryAfter: 0 }
}

/**
 * A limit for the reference driver that returns the verdict a program reported, because the state may be long and stays with the program.
 * Undefined for an invalid outcome.
 * @param at when the program decided
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
