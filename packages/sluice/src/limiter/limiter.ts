/// <reference lib="esnext.disposable" preserve="true" />
import type { Decision } from '../decision/decision.ts'
import type { WaitOptions } from './timing.ts'

/** `signal` stops waiting for a remote store: the decision is then `undecided`. */
export interface CheckOptions extends WaitOptions {
  /** Tokens that this call takes; above 0, at most six decimals; default 1. */
  readonly cost?: number
}

export interface CheckRequest {
  readonly key: string
  readonly cost?: number
}

export interface RefundOptions extends WaitOptions {
  /** Tokens to give back, at most six decimals; default 1. */
  readonly cost?: number
  /** The decision that charged the tokens, possibly restored from JSON. If its window has ended since, nothing is given back. */
  readonly receipt?: Pick<Decision, 'atMicros'>
}

/** One or several named limits over one store, checked by key. */
export interface Limiter extends AsyncDisposable {
  readonly name: string
  /** Charges every limit of the key, all or nothing. Rejects only on misuse (a LimiterError), never because the store fails. */
  check(key: string, options?: CheckOptions): Promise<Decision>
  /** As `check`, synchronously. Only if the store is synchronous. */
  checkSync(key: string, options?: Pick<CheckOptions, 'cost'>): Decision
  /** Several checks in one store call, decided in order and independently. */
  checkMany(requests: readonly CheckRequest[], options?: Omit<CheckOptions, 'cost'>): Promise<Decision[]>
  /**
   * Reports what `check` would decide now (outcome and retryAfter). It charges and writes nothing; views do not include the cost. After a
   * change of the limit, the wait counts from the first `check` under the new limit, because only `check` converts the key.
   */
  peek(key: string, options?: CheckOptions): Promise<Decision>
  /** Gives tokens back to every limit of the key, never beyond fresh. Rejects with the StoreFailure if the store cannot. */
  refund(key: string, options?: RefundOptions): Promise<void>
  /** Takes tokens unconditionally, to at most one capacity below empty. Rejects with the StoreFailure if the store cannot. */
  penalize(key: string, options?: CheckOptions): Promise<void>
  /** Denies the key for this long, whatever its limits have left. Rejects with the StoreFailure if the store cannot. */
  block(key: string, duration: string | number): Promise<void>
  /** Lifts a block. */
  unblock(key: string): Promise<void>
  /** Forgets the key, so that its next check finds it fresh. A block stays. Rejects with the StoreFailure if the store cannot. */
  reset(key: string): Promise<void>
  /** Resolves when the store can decide. */
  ready(): Promise<void>
  close(): Promise<void>
}
