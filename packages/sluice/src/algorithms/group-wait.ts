import type { Micros } from '../time/micros.ts'
import type { AnyLimit, MicroTokens } from './algorithm.ts'

/** One call of a denied group: its state uncharged and in the plan's unit, and the cost with those of earlier calls to the same state. */
export interface WaitingCall {
  readonly limit: AnyLimit
  readonly state: unknown
  readonly cost: MicroTokens
  readonly phase: number
  /** Until when a block denies it; 0 for no block. */
  readonly until: Micros
}

/** Limits that start low again (ramps) may take turns for ever: after so many instants nothing is said. */
const MAX_ROUNDS = 16

/** First instant from `at` on at which the call would pass by itself, if nobody else called. Its cost must be possible. */
export function passesFrom({ limit: { algorithm, plan }, state, cost, phase, until }: WaitingCall, at: Micros): Micros {
  const from = Math.max(at, until)
  const then = state === undefined ? undefined : algorithm.adopt(plan, state, from, phase)
  const { outcome, retryAfter } = algorithm.decide(plan, then, from, cost, phase)
  return outcome === 'denied' ? from + retryAfter : from
}

/**
 * First instant from `at` on at which all calls would pass (law 4). Each round takes the latest instant that one of them needs and asks
 * all of them there: no earlier one can do, and a limit that would pass now may not pass then. Undefined where no round found it,
 * or whole numbers end before it.
 */
export function allPassFrom(calls: readonly WaitingCall[], at: Micros): Micros | undefined {
  let latest = at
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const asked = latest
    for (const call of calls) latest = Math.max(latest, passesFrom(call, asked))
    if (!Number.isSafeInteger(latest)) return undefined
    if (latest === asked) return latest
  }
  return undefined
}
