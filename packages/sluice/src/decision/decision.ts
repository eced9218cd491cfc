import type { Micros } from '../time/micros.ts'

/**
 * `allowed`. `denied`: used up or blocked; waiting helps. `impossible`: the cost is above the capacity, or the request cannot be read;
 * waiting does not help. `undecided`: the store could not answer, and the failure policy decided whether the request may pass.
 */
export type Outcome = 'allowed' | 'denied' | 'impossible' | 'undecided'

export type Reason = 'quota' | 'capacity' | 'bad-request' | 'blocked' | 'overflow' | 'kill-switch' | 'loop' | 'spend'

/** Who decided: the store, or its substitute. */
export type Source = 'store' | 'lease' | 'denied-cache' | 'fallback'

/** One limit after the decision. */
export interface LimitView {
  readonly name: string
  /** Capacity: the most tokens that one call can ever get. */
  readonly limit: number
  /** Whole tokens left. On a denial: what is left uncharged, and 0 for a limit that a block denies. */
  readonly remaining: number
  /** Milliseconds until one more token is available; on the denying limit, until this call's cost is. */
  readonly replenishAfterMs: number
  /** Milliseconds until the limit is fresh. */
  readonly resetAfterMs: number
  /** Milliseconds over which the capacity is replenished; a bucket's is ceil(burst / rate). */
  readonly windowMs: number
}

/** Why the store did not make the decision itself. */
export interface Degraded {
  readonly kind: string
  /** `unknown`: the call may have been charged. */
  readonly executed: 'no' | 'unknown'
  readonly message: string
  /** Set if a store in this process decided with a divided limit: among how many processes. Absent if it had the whole limit. */
  readonly nodes?: number
}

interface Base {
  /** Whether the request may pass: the only field that a caller must read. */
  readonly allowed: boolean
  /** In the order of the limiter's limits; empty if nothing is known. */
  readonly limits: readonly LimitView[]
  /** Store time of the decision in milliseconds since 1970; this process's time if no store answered. */
  readonly at: number
  /** The same instant in whole microseconds. It makes the decision a receipt, because windows need not begin on a whole millisecond. */
  readonly atMicros: Micros
  readonly source: Source
  readonly degraded?: Degraded
}

/** Fields of some outcomes only, declared absent on the others. A caller can read them without checking the outcome first. */
interface Unknown {
  readonly limitName?: undefined
  readonly reason?: undefined
  readonly detail?: undefined
  readonly retryAfterMs?: undefined
}

/** The request may pass and was charged. */
export interface Allowed extends Base, Unknown {
  readonly outcome: 'allowed'
  readonly allowed: true
}

/** Used up or blocked; waiting helps. */
export interface Denied extends Base {
  readonly outcome: 'denied'
  readonly allowed: false
  /** The denying limit with the longest wait. */
  readonly limitName: string
  readonly reason: Exclude<Reason, 'capacity' | 'bad-request'>
  readonly detail?: undefined
  /**
   * After exactly this long every limit would let this cost pass; a millisecond less is not enough. Absent if no such wait was found:
   * limits with alternating ramps may have no instant at which all of them let it pass.
   */
  readonly retryAfterMs?: number
}

/** Waiting does not help: the cost is above the capacity (`capacity`), or the rule reads a part that cannot be read (`bad-request`). */
export interface Impossible extends Base {
  readonly outcome: 'impossible'
  readonly allowed: false
  readonly limitName: string
  readonly reason: 'capacity' | 'bad-request'
  /** For a bad request: where the problem is, the value (shortened), and what is allowed. */
  readonly detail?: string
  readonly retryAfterMs?: undefined
}

/** No store answered; `allowed` is the failure policy's answer. */
export interface Undecided extends Base, Unknown {
  readonly outcome: 'undecided'
  readonly degraded: Degraded
}

export type Decision = Allowed | Denied | Impossible | Undecided
