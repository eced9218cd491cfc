import type { Micros } from '../time/micros.ts'

/**
 * `allowed`; `denied`: used up or blocked, waiting helps; `impossible`: the cost is above the capacity, or the request cannot be read: waiting does not help;
 * `undecided`: the store could not answer, and the failure policy said whether the request may pass.
 */
export type Outcome = 'allowed' | 'denied' | 'impossible' | 'undecided'

export type Reason = 'quota' | 'capacity' | 'bad-request' | 'blocked' | 'overflow' | 'kill-switch' | 'loop' | 'spend'

/** Who decided: the store, or what stood in for it. */
export type Source = 'store' | 'lease' | 'denied-cache' | 'fallback'

/** One limit as it stands after the decision. */
export interface LimitView {
  readonly name: string
  /** Capacity: most tokens one call can ever get. */
  readonly limit: number
  /** Whole tokens left; on a denial, what is left uncharged, and 0 on a limit that a block denies. */
  readonly remaining: number
  /** Until one more token can be taken; on the denying limit, until this call's cost can. */
  readonly replenishAfterMs: number
  /** Until the limit is as fresh as new. */
  readonly resetAfterMs: number
  /** The time over which the capacity is replenished; a bucket's is ceil(burst / rate). */
  readonly windowMs: number
}

/** Why the store that should have decided did not. */
export interface Degraded {
  readonly kind: string
  /** `unknown`: the call may have been charged. */
  readonly executed: 'no' | 'unknown'
  readonly message: string
  /** Among how many processes the limit was divided where a store in this process stood in; absent where it had the whole. */
  readonly nodes?: number
}

interface Base {
  /** The only thing a caller must look at: whether the request may pass. */
  readonly allowed: boolean
  /** In the order they were asked; empty where nothing is known. */
  readonly limits: readonly LimitView[]
  /** Store time of the decision, milliseconds since 1970; this process's own where no store answered. */
  readonly at: number
  /** The same instant in whole microseconds: what makes the decision a receipt, for windows need not begin on a whole millisecond. */
  readonly atMicros: Micros
  readonly source: Source
  readonly degraded?: Degraded
}

/** What only some outcomes know, declared absent on the others: readable without asking for the outcome first. */
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

/** Used up or blocked: waiting helps. */
export interface Denied extends Base {
  readonly outcome: 'denied'
  readonly allowed: false
  /** The denying limit with the latest retry. */
  readonly limitName: string
  readonly reason: Exclude<Reason, 'capacity' | 'bad-request'>
  readonly detail?: undefined
  /**
   * Waiting this long is enough for this cost at every limit, a millisecond less is not. Absent where no such wait was found: limits whose ramps
   * take turns may leave no instant at which all of them let it pass.
   */
  readonly retryAfterMs?: number
}

/**
 * Waiting does not help: the cost is above the capacity of `limitName` (reason `capacity`), or that rule would look at a path or query that cannot be read
 * (`bad-request`).
 */
export interface Impossible extends Base {
  readonly outcome: 'impossible'
  readonly allowed: false
  readonly limitName: string
  readonly reason: 'capacity' | 'bad-request'
  /** Of a bad request: place, value (shortened) and what is allowed. */
  readonly detail?: string
  readonly retryAfterMs?: undefined
}

/** No store answered; `allowed` is what the failure policy says. */
export interface Undecided extends Base, Unknown {
  readonly outcome: 'undecided'
  readonly degraded: Degraded
}

export type Decision = Allowed | Denied | Impossible | Undecided
