/// <reference lib="esnext.disposable" preserve="true" />
import type { AnyLimit } from '../algorithms/algorithm.ts'
import type { Decision } from '../decision/decision.ts'
import type { CheckOptions, OnceOptions } from './check-options.ts'
import type { Reserving } from './reservation.ts'
import type { WaitOptions } from './timing.ts'

export type { CheckOptions, OnceOptions } from './check-options.ts'

/** Options of `peek`. */
export interface PeekOptions extends CheckOptions {
  /**
   * The instant to forecast, by this process's wall clock: a `Date`, or milliseconds since 1970, not in the past. The forecast assumes no
   * calls until then. Default: now.
   */
  readonly at?: Date | number | undefined
}

/** Options of `wait`. `signal` ends the wait, and gives back what was charged. */
export interface MaxWaitOptions extends CheckOptions {
  /** Milliseconds, at most a day; default 60,000. A call that would wait longer is denied at once. */
  readonly maxWaitMs?: number | undefined
}

/** One call of `checkMany`. */
export interface CheckRequest {
  /** Who is charged: a non-empty text. */
  readonly key: string
  /** Above 0, at most six decimals; default 1. */
  readonly cost?: number | undefined
}

/** Options of `refund`. */
export interface RefundOptions extends WaitOptions {
  /** Tokens to give back, at most six decimals; default 1. */
  readonly cost?: number | undefined
  /** The decision that charged the tokens, possibly restored from JSON. Nothing is given back if its window has ended. */
  readonly receipt?: Pick<Decision, 'atMicros'> | undefined
}

/**
 * One or several named limits over one store, checked by key. Methods that change states reject with the StoreFailure if the store fails.
 */
export interface Limiter extends AsyncDisposable, Reserving {
  /** As passed to `createLimiter`. */
  readonly name: string
  /** By name, in the order in which decisions list them. */
  readonly limits: Readonly<Record<string, AnyLimit>>
  /**
   * Charges every limit of the key, all or nothing. Rejects only on misuse (a LimiterError), never because the store fails. Calls that
   * repeat an `id` are charged once.
   */
  check(key: string, options?: OnceOptions): Promise<Decision>
  /**
   * As `check`, but resolves when the work may start, never early. On a token bucket, callers keep the order of the store, if the store
   * supports it; otherwise the order of arrival in this process. Slots of concurrency limits are polled every 25 to 50 ms. A wait longer
   * than `maxWaitMs` is a denial. Rejects on misuse, with OVERLOAD if 100,000 callers wait, and with the reason of an aborted signal.
   */
  wait(key: string, options?: MaxWaitOptions): Promise<Decision>
  /** As `check`, synchronously. Only if the store is synchronous. */
  checkSync(key: string, options?: Pick<CheckOptions, 'cost'>): Decision
  /** Several checks in one store call, decided in order and independently. */
  checkMany(requests: readonly CheckRequest[], options?: Omit<CheckOptions, 'cost'>): Promise<Decision[]>
  /**
   * Reports what `check` would decide now, or at the instant of the option `at`, and changes nothing. The figures of the limits do not
   * include the cost. The decision's `at` is by the store's clock.
   */
  peek(key: string, options?: PeekOptions): Promise<Decision>
  /** Gives tokens back to every limit of the key, at most until the limit is full. */
  refund(key: string, options?: RefundOptions): Promise<void>
  /** Takes tokens even if fewer are left, to at most one capacity below empty. */
  penalize(key: string, options?: CheckOptions): Promise<void>
  /**
   * Gives back the slots that a decision holds. No effect if they were given back before, or their hold has ended.
   * @param hold `decision.hold.id`
   */
  release(key: string, hold: string, options?: WaitOptions): Promise<void>
  /** Denies the key for this long, whatever its limits have left. */
  block(key: string, duration: string | number): Promise<void>
  /** Lifts the block of a key, whichever of its limits has it. */
  unblock(key: string): Promise<void>
  /**
   * Makes the limits of the key full. A block stays, and so do held slots. Settle or cancel open reservations first: a later settlement
   * could give their tokens back a second time.
   */
  reset(key: string): Promise<void>
  /**
   * This limiter with another limit, such as that of the caller's plan, over the same keys. The change creates no tokens. Closing the
   * returned limiter leaves this limiter open; closing this limiter closes both.
   * @throws LimiterError INVALID_OPTIONS for another algorithm, a value that is not a limit, and if this limiter has several limits;
   * NOT_SUPPORTED if the store cannot decide the limit
   */
  withLimit(limit: AnyLimit): Limiter
  /** Resolves when the store can decide. */
  ready(): Promise<void>
  /** Later calls throw a LimiterError `CLOSED`. Closes the store only if the limiter made it. */
  close(): Promise<void>
}
