import type { AnyLimit, MicroTokens } from '../algorithms/algorithm.ts'
import type { MonotonicInstant } from '../time/time.ts'
import type { Micros } from '../time/micros.ts'

/**
 * The part of a state's id that all states of one limit share. `text` names the limiter, the limit and its algorithm. The names in `text`
 * are encoded: it has no braces, spaces or control characters, and ends with a colon. Each limit has one such object, so a store may use
 * the object as a key of a map.
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
  /**
   * A number below 2^32, computed from the key (`phaseOf`), by which windows of different keys begin at different times. 0 if the limit
   * does not need it.
   */
  readonly phase: number
}

/**
 * A name of a state, for use as a key of maps in this process. Two states never have the same name, because scopes contain no spaces.
 * Computing it takes less time than `stateName`.
 */
export function nameOf({ scope, key }: StateId): string {
  return `${scope.text} ${key}`
}

/** Options of every store call. */
export interface CallOptions {
  /**
   * The instant by which the store must settle the call, on the monotonic clock of this process. If the server has not answered by then,
   * the call fails with a StoreFailure.
   */
  readonly deadline?: MonotonicInstant
  /**
   * Set if the deadline is the built-in default, and not one that a user has chosen. The store may extend it to one second while the first
   * connection is made.
   */
  readonly stretch?: true
  /** If it aborts, the call fails at once with `aborted`. The call may have been charged. */
  readonly signal?: AbortSignal
  /**
   * The time of decisions, in place of the store's clock; programs on a server use it too. The test kit sets it. With `now`, a server keeps
   * keys longer than their states need, because it expires them by its own clock.
   */
  readonly now?: Micros
}
