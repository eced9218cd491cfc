import type { Quota } from '../contestants/contestant.ts'
import type { WayName } from '../postgres/ways.ts'
import type { Way } from '../redis/ways.ts'

/** `one`: every request has the same key. `many`: each request has a random one of 10,000 keys. */
export type OpenKeys = 'one' | 'many'

/** A limiter on Redis or PostgreSQL, and the other settings of its process. */
export type OpenPlace = OpenSettings & ({ readonly redis: Way } | { readonly postgres: WayName })

export interface OpenSettings {
  readonly url: string
  /** Requests in flight during the warm-up and while the capacity is measured. */
  readonly callers: number
  readonly keys: OpenKeys
  readonly quota: Quota
  /** A name that separates the states of this lane (a measured limiter) from others: letters and digits. */
  readonly space: string
}

/** The number of arrivals a second, their duration in milliseconds, and the seed from which their instants are drawn. */
export interface Arrivals {
  readonly perSecond: number
  readonly ms: number
  readonly seed: number
}

export type OpenOrder =
  | { readonly what: 'warm-up' | 'capacity'; readonly ms: number }
  | ({ readonly what: 'open' } & Arrivals)
  | ({ readonly what: 'metered' } & Pick<Arrivals, 'perSecond' | 'seed'>)
  | { readonly what: 'close' }

/** The requests that were allowed on one key under a limit, and the most that are permitted. */
export interface MeteredRound {
  readonly total: number
  readonly allowed: number
  readonly refused: number
  readonly undecided: number
  readonly permitted: number
}
