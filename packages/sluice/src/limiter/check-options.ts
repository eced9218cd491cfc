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
   * limiter and key. Denials are not remembered. Who repeats it with another cost, or uses the id of a
   * reservation, gets ID_REUSED. A slot of a concurrency limit that is not held any more is taken again.
   */
  readonly id?: string
  /** Milliseconds, above 0 and at most a day; default 600,000. The id is remembered for a minute longer. Only with `id`. */
  readonly holdMs?: number
}
