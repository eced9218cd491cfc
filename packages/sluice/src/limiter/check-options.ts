import type { WaitOptions } from './timing.ts'

/** `signal` stops waiting for a remote store; the decision is then `undecided`. */
export interface CheckOptions extends WaitOptions {
  /** Tokens that this call takes; above 0, at most six decimals; default 1. */
  readonly cost?: number | undefined
}

/** Options of `check`. */
export interface OnceOptions extends CheckOptions {
  /**
   * An idempotency key of 1 to 128 printable ASCII characters: for this limiter and key, calls that repeat it are charged once. Denials are
   * not remembered. Another cost, or the id of a reservation not settled for exactly what it held, is an error (ID_REUSED).
   */
  readonly id?: string | undefined
  /**
   * Milliseconds for which slots are held, above 0 and at most a day; default 600,000. The id is remembered a minute longer. Requires `id`.
   */
  readonly holdMs?: number | undefined
}
