import type { Micros } from '../time/micros.ts'
import type { AnyLimit, MicroTokens } from './algorithm.ts'

/**
 * One call of a denied group. Its state is uncharged and of the call's plan. Its cost includes those of earlier calls to the same state.
 */
export interface WaitingCall {
  readonly limit: AnyLimit
  readonly state: unknown
  readonly cost: MicroTokens
  readonly phase: number
  /** The instant until which a block denies the call; 0 if it is not blocked. */
  readonly until: Micros
}

/** Ramped limits may pass in turns forever, so the search stops after this many instants and reports none. */
const MAX_ROUNDS = 16

/** The first instant from `at` on at which the call would pass by itself, if nobody else called. Its cost must be possible. */
export function passesFrom({ limit: { algorithm, plan }, state, cost, phase, until }: WaitingCall, at: Micros): Micros {
  const from = Math.max(at, until)
  const then = state === undefined ? undefined : algorithm.adopt(plan, state, from, phase)
  return from + algorithm.decide(plan, then, from, cost, phase).retryAfter
}

/**
 * The first instant from `at` on at which all calls would pass (law 4). Each round takes the latest instant that one of the calls needs,
 * and checks all calls there. No earlier instant can do, and a limit that would pass now may not pass then. Returns undefined if no round
 * found an instant, or if it is beyond 2^53.
 */
export function allPassFrom(calls: readonly WaitingCall[], at: Micros): Micros | undefined {
  let latest = at
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const before = latest
    for (const call of calls) latest = Math.max(latest, passesFrom(call, before))
    if (!Number.isSafeInteger(latest)) return undefined
    if (latest === before) return latest
  }
  return undefined
}
