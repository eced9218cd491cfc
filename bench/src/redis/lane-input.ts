import type { Quota } from '../contestants/contestant.ts'
import type { BatchOptions, CallersLane } from './batches.ts'
import type { Way } from './ways.ts'
import type { RingName } from './rings.ts'

/** `one`: all callers share a key; `own`: each has its own; `many`: 50,000 in turn, another one each time. */
export type KeyPattern = 'one' | 'own' | 'many'

/** A way of limiting, and its load. */
export interface WayLane {
  readonly way: Way
  readonly callers: number
  readonly keys: KeyPattern
}

/** A policy engine: of the rule `user` alone, or of `global`, `tenant`, `user` and `endpoint`. */
export interface RulesLane {
  readonly rules: 1 | 4
  readonly ring: RingName
  readonly callers: number
}

export type LaneInput = WayLane | RulesLane

/** The other parameters of a lane: the server, the quota, and a name of its own for its states. */
export interface LanePlace extends BatchOptions {
  readonly url: string
  readonly quota: Quota
  readonly space: string
}

export interface OpenLane {
  readonly lane: CallersLane
  close(): Promise<void>
}
