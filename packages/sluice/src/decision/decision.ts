import type { Micros } from '../time/micros.ts'

/**
 * - `allowed`: the request may pass.
 * - `denied`: a limit is used up, or the key is blocked. The request may pass later.
 * - `impossible`: the cost is above the capacity, or the request cannot be read. Waiting does not help.
 * - `undecided`: the store could not answer. The failure policy decided whether the request may pass.
 */
export type Outcome = 'allowed' | 'denied' | 'impossible' | 'undecided'

/**
 * Why a limit did not allow a request. `quota`: the limit is used up. `capacity`: the cost is above the limit's capacity. `bad-request`:
 * the request cannot be read. `blocked`: a call of `block` blocked the key. `overflow`: the store has no room for the key, and the state
 * that it shares with other new keys is used up. `concurrency`: all slots of a concurrency limit are held. `holds`: the key has as many
 * open reservations as it may have. `kill-switch`, `loop` and `spend` are reserved for later.
 */
export type Reason =
  | 'quota'
  | 'capacity'
  | 'bad-request'
  | 'blocked'
  | 'overflow'
  | 'concurrency'
  | 'holds'
  | 'kill-switch'
  | 'loop'
  | 'spend'

/** What made the decision: the store, leased tokens, a cached denial, or the failure policy (`fallback`). */
export type Source = 'store' | 'lease' | 'denied-cache' | 'fallback'

/** The state of one limit after the decision. */
export interface LimitView {
  /** Name of the limit, or of the policy's rule. */
  readonly name: string
  /** Capacity: the most tokens that one call can ever get. */
  readonly limit: number
  /**
   * Whole tokens left after the decision; a denial charges nothing. 0 if a block denies the call. With `source: 'lease'`: whole leased
   * tokens that this process can still spend.
   */
  readonly remaining: number
  /**
   * Milliseconds until one more whole token is available. For a limit that denied the call: milliseconds until the cost of the call is
   * available.
   */
  readonly replenishAfterMs: number
  /** Milliseconds until the limit is fresh, as if nothing had been charged. */
  readonly resetAfterMs: number
  /**
   * Milliseconds over which the capacity is replenished. For a bucket: burst / rate, rounded up. For slots: how long a slot can be held.
   */
  readonly windowMs: number
  /**
   * Set if the numbers do not count tokens that come back with time, but the slots of a concurrency limit, which come back from their
   * holders. Waits are then upper bounds: they assume that holders keep their slots until the slots end.
   */
  readonly unit?: 'concurrent-requests'
}

/** The slots of concurrency limits that a call holds. `release` of the limiter gives these back. */
export interface Hold {
  /** The id of the holder. Pass it to `release`. */
  readonly id: string
  /**
   * Store time in milliseconds since 1970 at which the slots are free again, unless they are given back before. Absent if the store did not
   * return it.
   */
  readonly expiresAt?: number
  /**
   * The fencing number: greater than that of every earlier grant to this key. A resource can refuse numbers below the greatest that it has
   * seen. Then a holder whose slot has ended and was granted again can no longer use the resource. Absent if the store did not return it,
   * and if the call has several concurrency limits.
   */
  readonly fence?: number
}

/** Why the store did not make the decision itself. */
export interface Degraded {
  /** The `StoreFailureKind` of the failure, such as `timeout`. */
  readonly kind: string
  /** `unknown`: the call may have been charged. */
  readonly executed: 'no' | 'unknown'
  /** The message of the store or its client, for logs. It may name hosts, but never a key. */
  readonly message: string
  /** Set if a store in this process decided with a part of the limit: among how many processes the limit was divided. */
  readonly nodes?: number
}

interface Base {
  /** Whether the request may pass: the only field that a caller must read. */
  readonly allowed: boolean
  /** The limits in the order in which the limiter has them; empty if nothing is known about them. */
  readonly limits: readonly LimitView[]
  /** Store time of the decision in milliseconds since 1970; this process's time if no store answered. */
  readonly at: number
  /** `at` in whole microseconds. A refund needs it to find the window of the charge, because a window may begin within a millisecond. */
  readonly atMicros: Micros
  readonly source: Source
  readonly degraded?: Degraded
  /** Set if the call takes slots of a concurrency limit and was, or may have been, granted some. Give them back when the work is done. */
  readonly hold?: Hold
}

/**
 * The fields that only some outcomes have, as absent fields of the other outcomes. So a caller can read them without checking the outcome
 * first.
 */
interface Unknown {
  readonly limitName?: undefined
  readonly reason?: undefined
  readonly detail?: undefined
  readonly retryAfterMs?: undefined
}

/** The request may pass. It was charged, unless this is the answer to a peek. */
export interface Allowed extends Base, Unknown {
  /** Narrows the decision in a `switch`. */
  readonly outcome: 'allowed'
  /** The request may pass. */
  readonly allowed: true
}

/** A limit is used up, or the key is blocked. The request may pass later. */
export interface Denied extends Base {
  /** Narrows the decision in a `switch`. */
  readonly outcome: 'denied'
  /** The request may not pass. */
  readonly allowed: false
  /** The name of the limit that denied the request; if several did, of the one with the longest wait. */
  readonly limitName: string
  /**
   * Why: `quota` (used up), `blocked` (by `block`), `overflow` (a state shared by new keys is used up), `concurrency` (no slot is free), or
   * `holds` (too many reservations are open).
   */
  readonly reason: Exclude<Reason, 'capacity' | 'bad-request'>
  /** Absent; only a bad request has a detail. */
  readonly detail?: undefined
  /**
   * The least wait, in whole milliseconds, after which every limit would let this cost pass. Absent if no such wait was found: limits with
   * ramps may never all let it pass at the same instant. Also absent if the wait depends on when holders give back their slots.
   */
  readonly retryAfterMs?: number
}

/** The cost is above the capacity (`capacity`), or the rule needs a part of the request that cannot be read (`bad-request`). */
export interface Impossible extends Base {
  /** Narrows the decision in a `switch`. */
  readonly outcome: 'impossible'
  /** The request may not pass, however long it waits. */
  readonly allowed: false
  /** The name of the limit whose capacity is below the cost, or of the rule that needs the part of the request that cannot be read. */
  readonly limitName: string
  /** `capacity`: the cost is above the capacity. `bad-request`: a part of the request cannot be read. */
  readonly reason: 'capacity' | 'bad-request'
  /** For a bad request: where in the request the problem is, the value (shortened), and what is allowed. */
  readonly detail?: string
  /** Absent, because waiting does not help. */
  readonly retryAfterMs?: undefined
}

/** The store could not answer. `allowed` is what the failure policy decided. */
export interface Undecided extends Base, Unknown {
  /** Narrows the decision in a `switch`. */
  readonly outcome: 'undecided'
  /** Why the store could not answer. */
  readonly degraded: Degraded
}

/**
 * The answer to a call. Read `allowed`, and for a denial also `retryAfterMs`. Denials and failed stores are decisions, never exceptions.
 */
export type Decision = Allowed | Denied | Impossible | Undecided
