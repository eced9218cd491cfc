import type { HoldStatus } from '../algorithms/settle-hold.ts'
import type { Decision } from '../decision/decision.ts'
import type { CheckOptions } from './check-options.ts'
import type { WaitOptions } from './timing.ts'

/** Options of `reserve`. */
export interface ReserveOptions extends CheckOptions {
  /** Milliseconds until the hold ends by itself, above 0 and at most a day; default 60,000. Its charge then stays. */
  readonly holdMs?: number | undefined
  /**
   * Names the hold within this limiter and key: 1 to 128 printable ASCII characters. Calls that repeat it while the hold is open are not
   * charged again. Default: a new id that nobody can guess.
   */
  readonly id?: string | undefined
}

/** What a limit counts for a settled hold, in tokens. */
export interface SettledLimit {
  /** Name of the limit. */
  readonly name: string
  /** What `reserve` charged. */
  readonly held: number
  /**
   * What the limit counts now: usually what was used; less by `overage` if not all of it could be charged. If less than `held` was used,
   * but the window of the charge has ended: `held`.
   */
  readonly charged: number
  /** What was used and could not be charged. A bucket is charged to at most one burst below empty, a window to at most twice its limit. */
  readonly overage: number
}

/** The status of a hold after an extension. */
export interface Extension {
  /**
   * - `open`: can still be settled.
   * - `settled`: by this call or before.
   * - `expired`: ended unsettled at most a minute ago; its charge stays.
   * - `unknown`: the key has no such hold, or it ended more than a minute ago.
   */
  readonly status: HoldStatus
  /** Store time at which the hold ends, or ended, in milliseconds since 1970; absent if the status is `unknown`. */
  readonly expiresAt?: number
}

/** The status of a hold after a settlement. */
export interface Settlement extends Extension {
  /** If true, this call changed nothing, and the figures are those of the first settlement. */
  readonly repeated: boolean
  /** In the order of the limiter's limits; empty if the status is `unknown`. */
  readonly limits: readonly SettledLimit[]
  /** The largest overage of these limits, in tokens. */
  readonly overage: number
}

/**
 * If the decision is not `allowed`, nothing is held. The methods reject with the StoreFailure if the store fails; each may be called again.
 */
export interface Reservation {
  /** As `check` returns it. */
  readonly decision: Decision
  /** For `settle(key, id)` in this or another process. */
  readonly id: string
  /**
   * Ends the hold with the cost that was used, in tokens: at least 0, at most six decimals. What was not used is given back, unless its
   * window has ended. What was used in excess is charged now, to at most one capacity below empty. Without a number, what was held stays
   * charged.
   */
  settle(actual?: number, options?: WaitOptions): Promise<Settlement>
  /** Extends the hold to end this many milliseconds from now, above 0 and at most a day. Never shortens it. */
  extend(holdMs: number, options?: WaitOptions): Promise<Extension>
  /** Ends the hold and gives everything back: `settle(0)`. */
  cancel(options?: WaitOptions): Promise<Settlement>
}

/** Charges now, and settles later what was used. */
export interface Reserving {
  /**
   * As `check`, but the charge can later be settled with what was used. Rejects only on misuse: a LimiterError, such as ID_REUSED if the id
   * was used with another cost, or its hold was settled or has ended.
   */
  reserve(key: string, options?: ReserveOptions): Promise<Reservation>
  /** As `settle` of the reservation, which another process may have made. */
  settle(key: string, id: string, actual?: number, options?: WaitOptions): Promise<Settlement>
  /** As `extend` of the reservation. */
  extend(key: string, id: string, holdMs: number, options?: WaitOptions): Promise<Extension>
  /** As `cancel` of the reservation. */
  cancel(key: string, id: string, options?: WaitOptions): Promise<Settlement>
}
