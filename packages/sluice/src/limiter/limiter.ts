/// <reference lib="esnext.disposable" preserve="true" />
import type { AnyLimit } from '../algorithms/algorithm.ts'
import type { Decision } from '../decision/decision.ts'
import type { CheckOptions, OnceOptions } from './check-options.ts'
import type { Reserving } from './reservation.ts'
import type { WaitOptions } from './timing.ts'

export type { CheckOptions, OnceOptions } from './check-options.ts'

/** Options of `peek`. `signal` is as in `check`. */
export interface PeekOptions extends CheckOptions {
  /**
   * The instant to forecast: a `Date`, or milliseconds since 1970. The decision says what will be left then if nobody calls until then. How
   * long it is until the instant is computed by this process's wall clock. An instant in the past is refused. Default: now.
   */
  readonly at?: Date | number
}

/** Options of `wait`. `signal` ends the wait: it then rejects with the signal's reason, and what was charged for it is given back. */
export interface MaxWaitOptions extends CheckOptions {
  /** The longest wait in milliseconds, at most a day; default 60,000. A call that would wait longer is denied at once. */
  readonly maxWaitMs?: number
}

/** One call of `checkMany`. */
export interface CheckRequest {
  /** Who is charged: a non-empty text. */
  readonly key: string
  /** Tokens that this call takes; above 0, at most six decimals; default 1. */
  readonly cost?: number
}

export interface RefundOptions extends WaitOptions {
  /** Tokens to give back, at most six decimals; default 1. */
  readonly cost?: number
  /** The decision that charged the tokens, possibly restored from JSON. If its window has ended since, nothing is given back. */
  readonly receipt?: Pick<Decision, 'atMicros'>
}

/** One or several named limits over one store, checked by key. */
export interface Limiter extends AsyncDisposable, Reserving {
  /** The name that was passed to `createLimiter`. */
  readonly name: string
  /** The limiter's limits by name, in the order in which decisions list them. */
  readonly limits: Readonly<Record<string, AnyLimit>>
  /**
   * Charges every limit of the key, all or nothing. Rejects only on misuse (a LimiterError), never because the store fails. With an `id`
   * the call is charged once, however often it is repeated.
   */
  check(key: string, options?: OnceOptions): Promise<Decision>
  /**
   * As `check`, but waits for the tokens instead of refusing, and resolves when the work may start, never early. If the store can charge
   * ahead, a call on a token bucket is charged at once, before its tokens are there. So callers come in the order of the store and need no
   * second call (the reservation of Go's x/time/rate). Calls on other limits are checked again, in the order of arrival in this process,
   * after the wait that the denial states. A concurrency limit states no wait: its calls are checked when a slot is given back in this
   * process, and every 25 to 50 ms. A wait longer than `maxWaitMs` is a denial. The decision is as of the instant at which the work may
   * start. Rejects on misuse, with OVERLOAD if very many callers wait, and with the reason of an aborted signal.
   */
  wait(key: string, options?: MaxWaitOptions): Promise<Decision>
  /** As `check`, synchronously. Only if the store is synchronous. */
  checkSync(key: string, options?: Pick<CheckOptions, 'cost'>): Decision
  /** Several checks in one store call, decided in order and independently. */
  checkMany(requests: readonly CheckRequest[], options?: Omit<CheckOptions, 'cost'>): Promise<Decision[]>
  /**
   * Reports what `check` would decide now (outcome and retryAfter). It charges and writes nothing; the figures of the limits do not include
   * the cost. After a change of the limit, the wait counts from the first `check` under the new limit: only `check` converts the key's
   * state. With `at` it forecasts, in two calls of the store: outcome and figures are those of that instant, which is the decision's `at`
   * by the store's clock.
   */
  peek(key: string, options?: PeekOptions): Promise<Decision>
  /** Gives tokens back to every limit of the key, at most until the limit is full. Rejects with the StoreFailure if the store cannot. */
  refund(key: string, options?: RefundOptions): Promise<void>
  /** Takes tokens even if fewer are left, to at most one capacity below empty. Rejects with the StoreFailure if the store cannot. */
  penalize(key: string, options?: CheckOptions): Promise<void>
  /**
   * Gives back the slots of concurrency limits that a decision holds, at once instead of at the end of the hold. Nothing happens if the
   * slots were given back before, or their hold has ended. Rejects with the StoreFailure if the store cannot: the slots are then free when
   * the hold ends.
   * @param hold `decision.hold.id`
   */
  release(key: string, hold: string, options?: WaitOptions): Promise<void>
  /** Denies the key for this long, whatever its limits have left. Rejects with the StoreFailure if the store cannot. */
  block(key: string, duration: string | number): Promise<void>
  /** Lifts the block of a key. */
  unblock(key: string): Promise<void>
  /**
   * Forgets the key, so that its next check finds its limits full. A block stays, and so do slots that are held. Rejects with the
   * StoreFailure if the store cannot.
   */
  reset(key: string): Promise<void>
  /**
   * This limiter with another limit, for example one that depends on the caller's plan. Name, store, failure policy and observers stay the
   * same, and so do the keys: for a key, the next call is a change of its limit (law 7), which creates no tokens. The limit must have
   * the algorithm of this limiter's own limit, so that states, blocks, penalties and resets of a key hold for both. Closing the returned
   * limiter leaves this limiter open; closing this limiter closes both.
   * @throws LimiterError INVALID_OPTIONS for a value that is not a limit, for a limit of another algorithm, and if this limiter has several
   * limits; NOT_SUPPORTED for a limit that the store cannot decide
   */
  withLimit(limit: AnyLimit): Limiter
  /** Resolves when the store can decide. */
  ready(): Promise<void>
  /** Ends the limiter: later calls throw a LimiterError `CLOSED`. Closes the store only if the limiter made it. */
  close(): Promise<void>
}
