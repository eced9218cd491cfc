import type { HoldStatus } from '../algorithms/settle-hold.ts'
import type { Decision } from '../decision/decision.ts'
import type { CheckOptions } from './check-options.ts'
import type { WaitOptions } from './timing.ts'

/** Options of `reserve`. */
export interface ReserveOptions extends CheckOptions {
  /** Milliseconds until the hold ends by itself, above 0 and at most a day; default 60,000. What it charged then stays charged. */
  readonly holdMs?: number
  /**
   * Who repeats a call with the same id while its hold is open is not charged again: 1 to 128 printable ASCII characters, for this limiter
   * and key. Default: a new id that nobody can guess.
   */
  readonly id?: string
}

/** What a limit counts for a hold that is settled. All in tokens. */
export interface SettledLimit {
  /** Name of the limit. */
  readonly name: string
  /** What was charged when it was reserved. */
  readonly held: number
  /**
   * What the limit counts for it now: what was used; what was held, if the window of the charge is past, so that nothing goes back; less by
   * `overage` if more was used than could be charged.
   */
  readonly charged: number
  /** What was used and could not be charged: a bucket goes to one burst below empty at most, a window to twice its limit. */
  readonly overage: number
}

/** How a hold stands after an extension. */
export interface Extension {
  /**
   * - `open`: it can still be settled.
   * - `settled`: it was settled, by this call or before.
   * - `expired`: it ended at most a minute ago, unsettled. What it charged stays charged.
   * - `unknown`: the limiter has no such hold for this key, or it ended more than a minute ago.
   */
  readonly status: HoldStatus
  /** Store time at which it ends, or ended, in milliseconds since 1970; absent if it is unknown. */
  readonly expiresAt?: number
}

/** How a hold stands after a settlement. */
export interface Settlement extends Extension {
  /** Whether it was settled before. Nothing was changed then, and the figures are those of the first settlement. */
  readonly repeated: boolean
  /** In the order of the limiter's limits, without those that it did not charge; empty if it is unknown. */
  readonly limits: readonly SettledLimit[]
  /** The largest overage of its limits, in tokens. */
  readonly overage: number
}

/**
 * The answer to `reserve`. If the decision is not `allowed`, nothing is held. Its verbs reject with the StoreFailure if the store cannot
 * make the change; each may be called again.
 */
export interface Reservation {
  /** As of `check`. */
  readonly decision: Decision
  /** Names the hold, for `settle(key, id)` in this or another process. */
  readonly id: string
  /**
   * Ends the hold with the cost that was used, in tokens: at least 0, at most six decimals. What was charged too much goes back to the
   * bucket, or to the window that was charged if it is not past. What was charged too little is charged now, to at most one capacity below
   * empty. Without a number what was held stays charged.
   */
  settle(actual?: number, options?: WaitOptions): Promise<Settlement>
  /** Lets the hold end so many milliseconds from now, unless it ends later already; above 0, at most a day. */
  extend(holdMs: number, options?: WaitOptions): Promise<Extension>
  /** Ends the hold and gives everything back: `settle(0)`. */
  cancel(options?: WaitOptions): Promise<Settlement>
}

/** The verbs of a limiter that hold tokens now and charge what was used later. */
export interface Reserving {
  /**
   * Charges every limit of the key as `check` does, all or nothing, and remembers what it charged, so that it can be settled with what was
   * used. Who repeats it with the same id while the hold is open gets the answer of the first call. Rejects only on misuse (a LimiterError;
   * ID_REUSED for an id that was used with another cost, or whose hold was settled or has ended), never because the store fails.
   */
  reserve(key: string, options?: ReserveOptions): Promise<Reservation>
  /** As `settle` of the reservation, which may have been made by another process. */
  settle(key: string, id: string, actual?: number, options?: WaitOptions): Promise<Settlement>
  /** As `extend` of the reservation. */
  extend(key: string, id: string, holdMs: number, options?: WaitOptions): Promise<Extension>
  /** As `cancel` of the reservation. */
  cancel(key: string, id: string, options?: WaitOptions): Promise<Settlement>
}
