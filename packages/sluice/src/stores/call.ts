import type { AnyLimit, MicroTokens } from '../algorithms/algorithm.ts'
import type { MonotonicInstant } from '../time/time.ts'
import type { Micros } from '../time/micros.ts'

/**
 * The part of a state's id that all states of one limit share. `text` names the limiter, the limit and its algorithm. It is encoded: no
 * braces, spaces or control characters, and a colon at the end. Each limit has one such object, so a store may use it as a key of a map.
 */
export interface Scope {
  readonly text: string
}

/** Identifies one state. `key` is any text. A store that needs a safe and short name for the state uses `stateName`. */
export interface StateId {
  /** The limiter, limit and algorithm that the state belongs to. */
  readonly scope: Scope
  /** The key within the scope: any text. */
  readonly key: string
}

/** A call of one limit. */
export interface Call {
  /** The state to charge. */
  readonly id: StateId
  /** The limit that applies to the state. */
  readonly limit: AnyLimit
  /** Above 0; the store does not check it. */
  readonly cost: MicroTokens
  /** A number below 2^32 that belongs to the key (`phaseOf`); 0 if the limit is not phased. */
  readonly phase: number
}

/** A state's name as a key of maps. It is unique, because scopes contain no spaces. It costs less than `stateName`. */
export function nameOf({ scope, key }: StateId): string {
  return `${scope.text} ${key}`
}

/** Options of every store call. */
export interface CallOptions {
  /** The instant by which the store settles, on its monotonic clock. If it has no answer by then, the call fails with a StoreFailure. */
  readonly deadline?: MonotonicInstant
  /** Set if the deadline is a built-in default. The store may extend such a deadline to one second while the first connection is made. */
  readonly stretch?: true
  /** Ends the wait early: the call then fails with `aborted`. It may have been charged. */
  readonly signal?: AbortSignal
  /** Decide as if it were this time: the test kit's clock, also for remote programs. With `now`, keys are kept longer than their TTL. */
  readonly now?: Micros
}
