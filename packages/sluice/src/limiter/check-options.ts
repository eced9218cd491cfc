import type { WaitOptions } from './timing.ts'

/** `signal` stops waiting for a remote store: the decision is then `undecided`. */
export interface CheckOptions extends WaitOptions {
  /** Tokens that this call takes; above 0, at most six decimals; default 1. */
  readonly cost?: number
}

/** Options of `check`. */
export interface OnceOptions extends CheckOptions {
  /**
   * An idempotency key: the call is charged once, however often it is repeated with this id. 1 to 128 printable ASCII characters, for this
   * limiter and key. Denials are not remembered. Who repeats it with another cost gets ID_REUSED.
   */
  readonly id?: string
  /** How long the id is remembered in milliseconds, above 0 and at most a day, and a minute more; default 600,000. Only with `id`. */
  readonly holdMs?: number
}
