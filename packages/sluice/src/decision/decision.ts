import type { Micros } from '../time/micros.ts'

/**
 * - `allowed`: the request may pass.
 * - `denied`: a limit is used up, or the key is blocked. Waiting helps.
 * - `impossible`: the cost is above the capacity, or the request cannot be read. Waiting does not help.
 * - `undecided`: the store could not answer. The failure policy decided whether the request may pass.
 */
export type Outcome = 'allowed' | 'denied' | 'impossible' | 'undecided'

/**
 * Why a limit did not allow a request. `quota`: it is used up. `capacity`: the cost is above its capacity. `bad-request`: the request
 * cannot be read. `blocked`: somebody blocked the key. `overflow`: a state that new keys share is used up. `concurrency`: all slots of a
 * concurrency limit are held. `holds`: as many reservations of the key are open as there may be. `kill-switch`, `loop` and `spend` are reserved.
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

/** Where the answer comes from: the store, leased tokens, a remembered denial, or the failure policy (`fallback`). */
export type Source = 'store' | 'lease' | 'denied-cache' | 'fallback'

/** One limit after the decision. */
export interface LimitView {
  /** Name of the limit, or of the policy's rule. */
  readonly name: string
  /** Capacity: the most tokens that one call can ever get. */
  readonly limit: number
  /**
   * Whole tokens left after the decision; a denial charges nothing. 0 if a block denies the call. With `source: 'lease'`: what this
   * process can still admit.
   */
  readonly remaining: number
  /** Milliseconds until one more token is available. For a limit that denied: until the cost of this call is available. */
  readonly replenishAfterMs: number
  /** Milliseconds until the limit is fresh. */
  readonly resetAfterMs: number
  /** Milliseconds over which the capacity is replenished; for a bucket burst / rate, rounded up; for slots how long one is held at most. */
  readonly windowMs: number
  /**
   * What the numbers count if not tokens that come back with time: the slots of a concurrency limit, which their holders give back. Waits
   * are then upper bounds: until the hold of a holder ends that never gives back.
   */
  readonly unit?: 'concurrent-requests'
}

/** The slots of concurrency limits that a call holds. `release` of the limiter gives them back. */
export interface Hold {
  /** Identifies the holder, for `release`. */
  readonly id: string
  /** Store time in milliseconds since 1970 at which the slots are free again at the latest. Absent if the store did not say. */
  readonly expiresAt?: number
  /**
   * The fencing number: above that of every earlier grant to this key. A resource that refuses numbers below the highest one it has seen is
   * safe from holders whose hold has ended. Absent if the store did not say, and with several concurrency limits.
   */
  readonly fence?: number
}

/** Why the store did not make the decision itself. */
export interface Degraded {
  /** The `StoreFailureKind` of the failure, such as `timeout`. */
  readonly kind: string
  /** `unknown`: the call may have been charged. */
  readonly executed: 'no' | 'unknown'
  /** What the store or its client said, for logs. It may name hosts, and never a key. */
  readonly message: string
  /** Set if a store in this process decided with a part of the limit: the number of processes among which the limit was divided. */
  readonly nodes?: number
}

interface Base {
  /** Whether the request may pass: the only field that a caller must read. */
  readonly allowed: boolean
  /** In the order of the limiter's limits; empty if nothing is known. */
  readonly limits: readonly LimitView[]
  /** Store time of the decision in milliseconds since 1970; this process's time if no store answered. */
  readonly at: number
  /** `at` in whole microseconds. Refunds use it as the receipt, because a window need not begin on a whole millisecond. */
  readonly atMicros: Micros
  readonly source: Source
  readonly degraded?: Degraded
  /** Set if the call takes slots of a concurrency limit and may hold some: give them back when the work is done. */
  readonly hold?: Hold
}

/** Fields of some outcomes only, declared absent on the others. A caller can read them without checking the outcome first. */
interface Unknown {
  readonly limitName?: undefined
  readonly reason?: undefined
  readonly detail?: undefined
  readonly retryAfterMs?: undefined
}

/** The request may pass, and was charged unless this answers a peek. */
export interface Allowed extends Base, Unknown {
  /** Narrows the decision in a `switch`. */
  readonly outcome: 'allowed'
  /** The request may pass. */
  readonly allowed: true
}

/** A limit is used up, or the key is blocked; waiting helps. */
export interface Denied extends Base {
  /** Narrows the decision in a `switch`. */
  readonly outcome: 'denied'
  /** The request may not pass. */
  readonly allowed: false
  /** The denying limit with the longest wait. */
  readonly limitName: string
  /** Why: `quota` (used up), `blocked` (by `block`), `overflow` (a state shared by new keys is used up), `concurrency` (no slot is free), or `holds` (too many reservations are open). */
  readonly reason: Exclude<Reason, 'capacity' | 'bad-request'>
  /** Absent; only a bad request has a detail. */
  readonly detail?: undefined
  /**
   * The least wait, in whole milliseconds, after which every limit would let this cost pass. Absent if no such wait was found: limits with
   * ramps may never all let it pass at the same instant. Absent, too, if it depends on when holders give back their slots.
   */
  readonly retryAfterMs?: number
}

/** The cost is above the capacity (`capacity`), or the rule needs a part of the request that cannot be read (`bad-request`). */
export interface Impossible extends Base {
  /** Narrows the decision in a `switch`. */
  readonly outcome: 'impossible'
  /** The request may not pass, however long it waits. */
  readonly allowed: false
  /** The limit whose capacity is below the cost, or the rule that reads what cannot be read. */
  readonly limitName: string
  /** `capacity`: the cost is above the capacity. `bad-request`: a part of the request cannot be read. */
  readonly reason: 'capacity' | 'bad-request'
  /** For a bad request: where the problem is, the value (shortened), and what is allowed. */
  readonly detail?: string
  /** Absent, because waiting does not help. */
  readonly retryAfterMs?: undefined
}

/** No store answered; `allowed` is the failure policy's answer. */
export interface Undecided extends Base, Unknown {
  /** Narrows the decision in a `switch`. */
  readonly outcome: 'undecided'
  /** Why no store answered. */
  readonly degraded: Degraded
}

/** The answer to a call. Read `allowed`; for a denial also `retryAfterMs`. A denial or a lost store is a decision, never an exception. */
export type Decision = Allowed | Denied | Impossible | Undecided
