import type { AnyLimit, MicroTokens } from '../algorithms/algorithm.ts'
import type { MonotonicInstant } from '../time/time.ts'
import type { Micros } from '../time/micros.ts'

/**
 * The part of a state's id that all states of one limit share. `text` names the limiter, the limit and its algorithm. It is encoded: it has
 * no braces, spaces or control characters, and ends with a colon. Each limit has one such object, so a store may use the object as a key of
 * a map.
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

/** A call of one limit for one key. */
export interface Call {
  /** The state to charge. */
  readonly id: StateId
  /** The limit that applies to the state. */
  readonly limit: AnyLimit
  /** Micro-tokens, above 0. The store does not check that. */
  readonly cost: MicroTokens
  /** A number below 2^32 that belongs to the key (`phaseOf`); 0 if the limit is not phased. */
  readonly phase: number
}

/**
 * A state's name for use as a key of maps. It is unique, because scopes contain no spaces. Computing it takes less time than `stateName`.
 */
export function nameOf({ scope, key }: StateId): string {
  return `${scope.text} ${key}`
}

/** Options of every store call. */
export interface CallOptions {
  /**
   * The instant by which the store must answer, on its monotonic clock. If it has no answer by then, the call fails with a StoreFailure.
   */
  readonly deadline?: MonotonicInstant
  /** Set if the deadline is a built-in default. The store may extend such a deadline to one second while the first connection is made. */
  readonly stretch?: true
  /** If it aborts, the call fails at once with `aborted`. The call may have been charged. */
  readonly signal?: AbortSignal
  /**
   * The time of decisions in place of the clock, also for remote programs; for the test kit's clock. With `now`, keys are kept longer than
   * their TTL.
   */
  readonly now?: Micros
}
