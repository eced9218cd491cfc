import type { HoldStatus } from '../algorithms/settle-hold.ts'
import type { Decision } from '../decision/decision.ts'
import type { CheckOptions } from './check-options.ts'
import type { WaitOptions } from './timing.ts'

/** Options of `reserve`. */
export interface ReserveOptions extends CheckOptions {
  /**
   * Milliseconds until the hold ends by itself, above 0 and at most a day; default 60,000. What the hold has charged then stays charged.
   */
  readonly holdMs?: number
  /**
   * Names the hold within this limiter and key: 1 to 128 printable ASCII characters. A call that is repeated with the same id while its
   * hold is open is not charged again. Default: a new id that nobody can guess.
   */
  readonly id?: string
}

/** What a limit counts for a hold that is settled. All numbers are in tokens. */
export interface SettledLimit {
  /** Name of the limit. */
  readonly name: string
  /** What `reserve` charged. */
  readonly held: number
  /**
   * What the limit counts for the hold now. Usually what was used. If more was used than could be charged, it is less by `overage`. If less
   * was used, but the window of the charge has ended, it is what was held, because nothing can be given back.
   */
  readonly charged: number
  /** What was used and could not be charged: a bucket is charged to at most one burst below empty, a window to at most twice its limit. */
  readonly overage: number
}

/** The status of a hold after an extension. */
export interface Extension {
  /**
   * - `open`: the hold can still be settled.
   * - `settled`: the hold was settled, by this call or before.
   * - `expired`: the hold ended at most a minute ago, unsettled. What it charged stays charged.
   * - `unknown`: the limiter has no such hold for this key, or the hold ended more than a minute ago.
   */
  readonly status: HoldStatus
  /** Store time at which the hold ends, or ended, in milliseconds since 1970; absent if the status is `unknown`. */
  readonly expiresAt?: number
}

/** The status of a hold after a settlement. */
export interface Settlement extends Extension {
  /** Whether the hold was settled before. If so, this call changed nothing, and the figures are those of the first settlement. */
  readonly repeated: boolean
  /** One for each limit that the hold has charged, in the order of the limiter's limits; empty if the status is `unknown`. */
  readonly limits: readonly SettledLimit[]
  /** The largest overage of these limits, in tokens. */
  readonly overage: number
}

/**
 * The answer to `reserve`. If the decision is not `allowed`, nothing is held. The methods reject with the StoreFailure if the store cannot
 * make the change; each may be called again.
 */
export interface Reservation {
  /** The decision, as `check` returns it. */
  readonly decision: Decision
  /** Names the hold, for `settle(key, id)` in this or another process. */
  readonly id: string
  /**
   * Ends the hold with the cost that was used, in tokens: at least 0, at most six decimals. If less was used than charged, the difference
   * goes back to the bucket, or to the window that was charged unless that window has ended. If more was used, the difference is charged
   * now, to at most one capacity below empty. Without a number, what was held stays charged.
   */
  settle(actual?: number, options?: WaitOptions): Promise<Settlement>
  /** Extends the hold to end this many milliseconds from now, above 0 and at most a day. A hold that ends later already stays as it is. */
  extend(holdMs: number, options?: WaitOptions): Promise<Extension>
  /** Ends the hold and gives everything back: `settle(0)`. */
  cancel(options?: WaitOptions): Promise<Settlement>
}

/** The verbs of a limiter that hold tokens now and charge what was used later. */
export interface Reserving {
  /**
   * Charges every limit of the key as `check` does, all or nothing, and remembers the charge, so that it can later be settled with what was
   * used. A call that is repeated with the same id while the hold is open is not charged again. Rejects only on misuse (a LimiterError;
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
