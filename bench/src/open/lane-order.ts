import type { Quota } from '../contestants/contestant.ts'
import type { WayName } from '../postgres/lanes.ts'
import type { Way } from '../redis/ways.ts'

/** `one`: every request has the same key; `many`: each has one of 10,000 at random. */
export type OpenKeys = 'one' | 'many'

/** A way of either engine, and what else its process needs. */
export type OpenPlace = OpenSettings & ({ readonly redis: Way } | { readonly postgres: WayName })

export interface OpenSettings {
  readonly url: string
  /** Requests under way while it warms up and its capacity is measured. */
  readonly callers: number
  readonly keys: OpenKeys
  readonly quota: Quota
  /** A name of its own for its states: letters and digits. */
  readonly space: string
}

/** Arrivals a second, for how many milliseconds, and the seed from which their instants are drawn. */
export interface Arrivals {
  readonly perSecond: number
  readonly ms: number
  readonly seed: number
}

export type OpenOrder =
  | { readonly what: 'warm-up' | 'capacity'; readonly ms: number }
  | ({ readonly what: 'open' | 'metered' } & Arrivals)
  | { readonly what: 'close' }

/** What was let through on one key under a limit, and the most that may be. */
export interface MeteredRound {
  readonly total: number
  readonly allowed: number
  readonly refused: number
  readonly undecided: number
  readonly permitted: number
}
