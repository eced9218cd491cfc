import type { AnyLimit, MicroTokens } from '../algorithms/algorithm.ts'
import type { MonotonicInstant } from '../time/time.ts'
import type { Micros } from '../time/micros.ts'

/**
 * What all states of one limit share: the encoded names of limiter, limit and algorithm, without braces, spaces or control characters. Each
 * limit has one such object, so a store may use it as a key of a map.
 */
export interface Scope {
  /** Begins the name of each state of the limit. */
  readonly text: string
}

/** Identifies one state. `stateName` makes a short, safe name of it. */
export interface StateId {
  /** The limit to which the state belongs. */
  readonly scope: Scope
  /** Any text. */
  readonly key: string
}

/** One limit for one key. */
export interface Call {
  /** The state to charge. */
  readonly id: StateId
  /** The limit of the state. */
  readonly limit: AnyLimit
  /** Micro-tokens, above 0. The store does not check that. */
  readonly cost: MicroTokens
  /** `phaseOf(key)`, below 2^32, by which windows of different keys begin at different times. 0 if the limit does not need it. */
  readonly phase: number
}

/** A key for maps in this process, faster to compute than `stateName`. Unique, because scopes contain no spaces. */
export function nameOf({ scope, key }: StateId): string {
  return `${scope.text} ${key}`
}

/** Options of every store call. */
export interface CallOptions {
  /**
   * The instant by which the store must settle the call, on the monotonic clock of this process. After it, the call fails with a
   * StoreFailure.
   */
  readonly deadline?: MonotonicInstant
  /** Set if the deadline is the built-in default. The store may extend it to one second while the first connection is made. */
  readonly stretch?: true
  /** If it aborts, the call fails at once with `aborted`. It may have been charged. */
  readonly signal?: AbortSignal
  /** Replaces the store's clock; set by the test kit. States are then kept longer, because servers delete them by their own clocks. */
  readonly now?: Micros
}
