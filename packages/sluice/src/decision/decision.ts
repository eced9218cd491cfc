import type { Micros } from '../time/micros.ts'

/**
 * - `allowed`: the request may pass.
 * - `denied`: a limit is used up, or the key is blocked.
 * - `impossible`: the cost is above the capacity, or the request cannot be read.
 * - `undecided`: the store could not answer. The field `allowed` is what the failure policy says.
 */
export type Outcome = 'allowed' | 'denied' | 'impossible' | 'undecided'

/**
 * `quota`: the limit is used up. `capacity`: the cost is above the limit's capacity. `bad-request`: the request cannot be read. `blocked`:
 * by `block`. `overflow`: the store is full, and the state that new keys share is used up. `concurrency`: all slots are held. `holds`: too
 * many reservations are open. The others are reserved for later.
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

/** What decided: the store, leased tokens, a cached denial, or the failure policy (`fallback`). */
export type Source = 'store' | 'lease' | 'denied-cache' | 'fallback'

/** The state of one limit after the decision. */
export interface LimitView {
  /** Name of the limit, or of the policy's rule. */
  readonly name: string
  /** Capacity: the most tokens that one call can ever get. */
  readonly limit: number
  /** Whole tokens left; 0 if a block denies the call. With `source: 'lease'`: leased tokens that this process can still spend. */
  readonly remaining: number
  /** Milliseconds until one more whole token is available; after a denial by this limit, until the call's cost is available. */
  readonly replenishAfterMs: number
  /** Milliseconds until the limit is as if nothing had been charged. */
  readonly resetAfterMs: number
  /**
   * Milliseconds over which the capacity is replenished. For a bucket: burst / rate, rounded up. For slots: how long a slot can be held.
   */
  readonly windowMs: number
  /**
   * Set if the numbers count slots of a concurrency limit. Waits are then upper bounds, because holders may give their slots back earlier.
   */
  readonly unit?: 'concurrent-requests'
}

/** The slots of concurrency limits that a call holds. */
export interface Hold {
  /** Pass it to `release`. */
  readonly id: string
  /** Store time in milliseconds since 1970 at which the slots are free if nobody gives them back; absent if unknown. */
  readonly expiresAt?: number
  /**
   * Fencing number: greater than that of every earlier grant to this key, so that a resource can refuse holders whose slot has ended.
   * Absent if unknown, and if the call has several concurrency limits.
   */
  readonly fence?: number
}

/** Why the store did not make the decision itself. */
export interface Degraded {
  /** A `StoreFailureKind`, such as `timeout`. */
  readonly kind: string
  /** `unknown`: the call may have been charged. */
  readonly executed: 'no' | 'unknown'
  /** For logs: the message of the store or its client. May name hosts, but never a key. */
  readonly message: string
  /** Among how many processes the limit was divided, if a store in this process decided with a part of it. */
  readonly nodes?: number
}

interface Base {
  /** The only field that a caller must read. */
  readonly allowed: boolean
  /** In the limiter's order; empty if nothing is known about them. */
  readonly limits: readonly LimitView[]
  /** Store time in milliseconds since 1970; this process's time if no store answered. */
  readonly at: number
  /** `at` in whole microseconds. A refund needs it to find the window of the charge. */
  readonly atMicros: Micros
  readonly source: Source
  readonly degraded?: Degraded
  /** Set if slots were, or may have been, granted. Give them back when the work is done. */
  readonly hold?: Hold
}

/** Lets callers read fields of other outcomes without checking the outcome first. */
interface Unknown {
  readonly limitName?: undefined
  readonly reason?: undefined
  readonly detail?: undefined
  readonly retryAfterMs?: undefined
}

/** The request was charged, unless this answers a peek. */
export interface Allowed extends Base, Unknown {
  /** Discriminates the union. */
  readonly outcome: 'allowed'
  /** The request may pass. */
  readonly allowed: true
}

/** A limit is used up, or the key is blocked. The request may pass later. */
export interface Denied extends Base {
  /** Discriminates the union. */
  readonly outcome: 'denied'
  /** The request may not pass. */
  readonly allowed: false
  /** If several limits denied the request, the one with the longest wait. */
  readonly limitName: string
  /** See `Reason`. */
  readonly reason: Exclude<Reason, 'capacity' | 'bad-request'>
  /** Only a bad request has one. */
  readonly detail?: undefined
  /**
   * Whole milliseconds until every limit would let this cost pass, at the earliest. Absent for slots, and if limits that grow
   * within a window (`ramp`) may never all let it pass at one instant.
   */
  readonly retryAfterMs?: number
}

/** The cost is above the capacity, or a part of the request that the rule needs cannot be read. */
export interface Impossible extends Base {
  /** Discriminates the union. */
  readonly outcome: 'impossible'
  /** The request may not pass. */
  readonly allowed: false
  /** The limit whose capacity is below the cost, or the rule that needs the unreadable part. */
  readonly limitName: string
  /** See `Reason`. */
  readonly reason: 'capacity' | 'bad-request'
  /** For a bad request: where the problem is, the value (shortened), and what is allowed. */
  readonly detail?: string
  /** Waiting does not help. */
  readonly retryAfterMs?: undefined
}

/** `allowed` is what the failure policy decided. */
export interface Undecided extends Base, Unknown {
  /** Discriminates the union. */
  readonly outcome: 'undecided'
  /** Why the store could not answer. */
  readonly degraded: Degraded
}

/** Read `allowed`, and for a denial also `retryAfterMs`. Denials and failed stores are decisions, never exceptions. */
export type Decision = Allowed | Denied | Impossible | Undecided
