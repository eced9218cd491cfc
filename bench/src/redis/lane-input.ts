import type { HeldWork } from '../held-work.ts'
import type { Quota } from '../contestants/contestant.ts'
import type { BatchOptions, CallersLane } from './batches.ts'
import type { Way } from './ways.ts'
import type { RingName } from './rings.ts'

/**
 * `one`: all callers share a key. `own`: each caller has its own key. `many`: 50,000 keys in turn, so each request has another key. A
 * number: each request has a random one of this many keys.
 */
export type KeyPattern = 'one' | 'own' | 'many' | number

/** A way of limiting, and its load. */
export interface WayLane {
  readonly way: Way
  readonly callers: number
  readonly keys: KeyPattern
}

/** A policy engine, with the rule `user` alone, or with `global`, `tenant`, `user` and `endpoint`. */
export interface RulesLane {
  readonly rules: 1 | 4
  readonly ring: RingName
  readonly callers: number
}

/** A limiter under the mixed load, with three limits for each request. */
export interface MixedLane {
  readonly mixed: Way
  readonly callers: number
}

/** Sluice's store with its ring. Each request takes a reservation or a slot, and gives it back at once. */
export interface HoldsLane {
  readonly held: HeldWork
  readonly callers: number
}

/** Reservations and settlements without Sluice: by programs that are written by hand, or by an empty program as a floor. */
export interface HandLane {
  readonly byHand: 'programs' | 'empty'
  readonly callers: number
}

export type LaneInput = WayLane | RulesLane | MixedLane | HoldsLane | HandLane

/** The number of callers that share one key. The over-grant of the lane (a measured limiter) is measured with as many callers. */
export function sharingOf(input: LaneInput): number {
  return 'keys' in input && input.keys === 'own' ? 1 : input.callers
}

/**
 * The other parameters of a lane (a measured limiter): the server, the quota, and a name (`space`) that separates its states from others.
 */
export interface LanePlace extends BatchOptions {
  readonly url: string
  readonly quota: Quota
  readonly space: string
}

export interface OpenLane {
  readonly lane: CallersLane
  close(): Promise<void>
}
