import type { WaitOptions } from './timing.ts'

/** `signal` stops waiting for a remote store: the decision is then `undecided`. */
export interface CheckOptions extends WaitOptions {
  /** Tokens that this call takes; above 0, at most six decimals; default 1. */
  readonly cost?: number
}

/** Options of `check`. */
export interface OnceOptions extends CheckOptions {
  /**
   * An idempotency key of 1 to 128 printable ASCII characters. Within this limiter and key, the call is charged once, however often it is
   * repeated with this id. Denials are not remembered. To repeat the call with another cost, or to use the id of a reservation, is an error
   * (ID_REUSED). If a repeated call no longer holds its slot of a concurrency limit, it takes a slot again.
   */
  readonly id?: string
  /**
   * Milliseconds for which slots are held, above 0 and at most a day; default 600,000. The id is remembered a minute longer. Allowed only
   * together with `id`.
   */
  readonly holdMs?: number
}
