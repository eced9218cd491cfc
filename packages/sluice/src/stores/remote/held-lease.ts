import type { AnyLimit, MicroTokens } from '../../algorithms/algorithm.ts'
import type { BucketPlan } from '../../algorithms/bucket-plan.ts'
import { MICRO } from '../../algorithms/decimal.ts'
import { MICROS_PER_MS } from '../../time/micros.ts'
import type { MonotonicInstant, Time } from '../../time/time.ts'
import { type Call, type Decided, type Leased, type StateId, type Store, StoreFailure } from '../store.ts'
import type { LeaseOptions } from './options.ts'

/** What all leases of a cache have in common. */
export interface LeaseContext extends Required<LeaseOptions> {
  readonly lease: NonNullable<Store['lease']>
  /** Name of the store, for messages. */
  readonly name: string
  readonly clock: Time
  /**
   * How many times the machine has slept (was suspended). During a sleep the monotonic clock may stand still, so tokens leased before a
   * sleep are not spent after it.
   */
  sleeps(now: MonotonicInstant): number
}

/** An answer that granted nothing for a call of this cost. */
export type Refusal = Leased & { readonly cost: MicroTokens }

/**
 * How many times in its life a lease is checked (`check`). The size of requests is chosen so that a busy key makes about as many requests
 * in a life. It makes more if this process's share of the bucket is too small for that.
 */
export const CHECKS = 4
/**
 * The fraction of a lease's life in which its tokens are spent. The rest is a margin, because the clocks of server and process run at
 * different rates.
 */
const USABLE = 0.8
/**
 * A request asks the store for the tokens of at least `MIN_CALLS` calls, the first request for those of `FIRST_CALLS` calls. Each asks for
 * at most `MAX_GROWTH` times as many as the one before.
 */
const [MIN_CALLS, FIRST_CALLS, MAX_GROWTH] = [4, 8, 8]

/** Tokens of one state that the store leased to this process. Requests more before they run out. */
export class HeldLease {
  readonly id: StateId
  limit: AnyLimit
  /** Number of the last request. */
  sequence = 0
  /** How many callers wait for tokens. */
  waiting = 0
  /** Whether the key was called since the last check. */
  used = true
  /** Set from when all tokens of the lease are given back. */
  givingBack: Promise<unknown> | undefined
  readonly #context: LeaseContext
  /** The number of this lease's holder. No other lease has it, so a late return of an earlier lease of the key cannot credit this one. */
  readonly #holder: number
  /** How many calls the key has had since `#since`. Counted until the key is leased. */
  #calls = 0
  #since: MonotonicInstant = Number.NEGATIVE_INFINITY
  #isLeased = false
  /**
   * `#tokens` may be spent until `#deadline`, unless the machine has slept since they were leased (`#sleeps`). `#returning` are the tokens
   * that the next request returns to the store.
   */
  #tokens: MicroTokens = 0
  #deadline: MonotonicInstant = 0
  #sleeps = 0
  #returning: MicroTokens = 0
  /**
   * `#want`: the amount of the next request. `#low`: the request is sent when no more tokens than this are left. `#notBefore`: the earliest
   * instant of a request for which no caller waits.
   */
  #want: MicroTokens = 0
  #low: MicroTokens = 0
  #notBefore: MonotonicInstant = 0
  #request: Promise<Refusal | undefined> | undefined
  #requestedAt: MonotonicInstant = Number.NaN
  /** The latest deadline of the callers that wait. They share a request, so the deadline of one must not end the request for the others. */
  #waitUntil: MonotonicInstant = 0
  #answer: Leased | undefined
  #answeredAt: MonotonicInstant = 0

  constructor({ id, limit }: Call, holder: number, context: LeaseContext) {
    // A copy, because the caller may use its id object again for the next call.
    this.id = { scope: id.scope, key: id.key }
    this.limit = limit
    this.#holder = holder
    this.#context = context
  }

  /**
   * Counts a call. Returns whether its key is leased: it is called often, and this process's share of its bucket is large enough for
   * several calls.
   */
  count({ limit, cost }: Call, now: MonotonicInstant): boolean {
    const { lifeMs, afterCalls } = this.#context
    if (this.givingBack !== undefined) return false
    this.used = true
    if (this.limit !== limit) this.#change(limit)
    if (this.#isLeased) return true
    if (now - this.#since > lifeMs) [this.#calls, this.#since] = [0, now]
    this.#calls += 1
    this.#isLeased = this.#calls >= afterCalls && now >= this.#notBefore && this.#share() >= MIN_CALLS * cost
    this.#want = Math.min(this.max, FIRST_CALLS * cost)
    return this.#isLeased
  }

  /** The most micro-tokens that this process may have on lease for the key at any time; 0 while the key is not leased. */
  get max(): MicroTokens {
    return this.#isLeased ? this.#share() : 0
  }

  /** Micro-tokens that may be spent now. */
  leasedTokens(now: MonotonicInstant): MicroTokens {
    return this.#isGood(now) ? this.#tokens : 0
  }

  /** Spends leased tokens. Returns false, with nothing spent, if there are too few. */
  spend(cost: MicroTokens, now: MonotonicInstant): boolean {
    if (!(this.#tokens >= cost && this.#isGood(now))) return false
    this.#tokens -= cost
    if (this.#tokens <= this.#low) this.refill(cost, now)
    return true
  }

  /** Undoes a `spend` that came after the request with this number. Has no effect if a later request has reported these tokens as spent. */
  unspend(cost: MicroTokens, sequence: number, now: MonotonicInstant): void {
    if (sequence === this.sequence && this.#isGood(now)) this.#tokens += cost
  }

  /** Requests tokens before a caller has to wait for them, unless the store refused or failed just now. */
  refill(cost: MicroTokens, now: MonotonicInstant): void {
    if (now >= this.#notBefore && cost <= this.max) this.#request ??= this.#requestTokens(cost, this.#nextSize(cost, now))
  }

  /**
   * Requests tokens for a caller that waits, or joins the request in flight. Resolves with the store's answer if that granted nothing, and
   * otherwise with undefined: the caller then looks whether there are tokens now. Rejects with a StoreFailure only if the request was sent
   * for waiting callers and failed before its deadline.
   */
  request(cost: MicroTokens, deadline: MonotonicInstant, now: MonotonicInstant): Promise<Refusal | undefined> {
    this.#waitUntil = Math.max(this.#waitUntil, deadline)
    return (this.#request ??= this.#requestTokens(cost, this.#nextSize(cost, now), this.#waitUntil))
  }

  /** Returns all tokens, once. Rejects with a StoreFailure if the store did not take them. */
  giveBack(deadline: MonotonicInstant): Promise<unknown> {
    return (this.givingBack ??= this.#return(deadline))
  }

  /**
   * Renews the lease before it ends, if its key is called. Returns false if the key was not called since the last check, or is not leased
   * any more: then the tokens can be given back.
   */
  check(now: MonotonicInstant): boolean {
    if (this.#request !== undefined || this.givingBack !== undefined) return true
    const { used } = this
    this.used = false
    if (this.leasedTokens(now) + this.#returning === 0 || !used) return used
    const isEnding = this.#deadline < now + (this.#context.lifeMs * USABLE) / 2
    if (isEnding && this.#isLeased) this.#request = this.#requestTokens(1, now < this.#notBefore ? 0 : this.#want)
    return this.#isLeased
  }

  /**
   * The verdict of a call that was admitted. `remaining` is what this process can certainly still admit. The waits and the time are those
   * of the last answer, adjusted to the present.
   */
  admit(now: MonotonicInstant): Decided {
    const { at, verdict } = this.#answer as Leased
    const passed = Math.floor((now - this.#answeredAt) * MICROS_PER_MS)
    const remaining = Math.floor(this.#tokens / MICRO)
    const replenishAfter = Math.max(0, verdict.replenishAfter - passed)
    const resetAfter = Math.max(0, verdict.resetAfter - passed)
    const call = { outcome: 'allowed', retryAfter: 0, remaining, replenishAfter, resetAfter } as const
    return { outcome: 'allowed', at: at + passed, calls: [call], source: 'lease' }
  }

  #isGood(now: MonotonicInstant): boolean {
    return now < this.#deadline && this.#context.sleeps(now) === this.#sleeps && this.givingBack === undefined
  }

  #share(): MicroTokens {
    return Math.floor((this.limit.plan as BucketPlan).burst * this.#context.share)
  }

  /**
   * Sets the limit. If its plan differs from the previous one (law 7, ARCHITECTURE.md), the tokens leased under the previous plan are
   * returned with the next request.
   */
  #change(limit: AnyLimit): void {
    const [was, is] = [this.limit.plan, limit.plan] as [BucketPlan, BucketPlan]
    this.limit = limit
    if (was.n === is.n && was.m === is.m && was.burst === is.burst) return
    this.#returning += this.#tokens
    this.#tokens = 0
    this.#want = Math.min(this.#want, this.max)
  }

  /**
   * The amount of the next request: more than the last one if that was used up within the time between two checks, less if it lasted twice
   * as long.
   */
  #nextSize(cost: MicroTokens, now: MonotonicInstant): MicroTokens {
    const each = this.#context.lifeMs / CHECKS
    const elapsed = Math.max(0.001, now - this.#requestedAt)
    if (elapsed < each) this.#want *= Math.min(MAX_GROWTH, Math.max(2, each / elapsed))
    else if (elapsed > 2 * each) this.#want /= 2
    return (this.#want = Math.floor(Math.min(this.max, Math.max(this.#want, MIN_CALLS * cost))))
  }

  /**
   * Sends a request, and notes when the next one may be sent. If nothing was granted, resolves with that answer, otherwise with undefined.
   * @param until the latest deadline of callers that wait, who get the request's failure; absent if no caller waits
   */
  async #requestTokens(cost: MicroTokens, size: MicroTokens, until?: MonotonicInstant): Promise<Refusal | undefined> {
    const { clock, lifeMs } = this.#context
    const deadline = until ?? clock.monotonic() + lifeMs / CHECKS
    try {
      const answer = await this.#send(cost, size, deadline)
      if (answer.granted >= cost || size === 0) return undefined
      // The bucket may have the tokens although the store does not lease them. Then the key is not leased any more.
      const isUnleased = answer.verdict.outcome === 'allowed'
      if (isUnleased) this.#isLeased = false
      this.#want /= 2
      this.#notBefore = clock.monotonic() + (isUnleased ? lifeMs : Math.ceil(answer.verdict.retryAfter / MICROS_PER_MS))
      return { ...answer, cost }
    } catch (failure) {
      const failedAt = clock.monotonic()
      this.#notBefore = failedAt + lifeMs / CHECKS / 4
      if (until !== undefined && failedAt < deadline) throw failure
      return undefined
    } finally {
      this.#request = undefined
    }
  }

  async #return(deadline: MonotonicInstant): Promise<void> {
    await this.#request?.catch(() => {})
    this.#returning += this.#tokens
    this.#tokens = 0
    if (this.#returning > 0) await this.#send(1, 0, Math.max(deadline, this.#context.clock.monotonic() + this.#context.lifeMs / CHECKS))
  }

  /**
   * Requests `size` micro-tokens but at least the cost, or none if `size` is 0. Reports how many of the earlier tokens are kept and
   * returned.
   * @throws StoreFailure
   */
  async #send(cost: MicroTokens, size: MicroTokens, deadline: MonotonicInstant): Promise<Leased> {
    const { clock, lease, lifeMs, name, sleeps } = this.#context
    const now = clock.monotonic()
    const [slept, kept, returned] = [sleeps(now), this.leasedTokens(now), this.#returning]
    const want = size === 0 ? 0 : Math.max(cost, Math.min(size, this.max - kept))
    this.#requestedAt = now
    this.#tokens = kept
    this.#returning = 0
    this.sequence += 1
    const call = { id: this.id, limit: this.limit, cost, phase: 0 }
    const [holder, sequence, life] = [this.#holder, this.sequence, lifeMs * MICROS_PER_MS]
    const request = { call, holder, sequence, life, want, kept, returned }
    try {
      const [answer] = await lease([request], { deadline })
      if (answer?.failure !== undefined) throw answer.failure
      const { granted } = answer as Leased
      const answeredAt = clock.monotonic()
      if (sleeps(answeredAt) === slept) {
        this.#tokens = this.leasedTokens(answeredAt) + granted
        this.#low = Math.floor(this.#tokens / 2)
        this.#sleeps = slept
        this.#deadline = now + lifeMs * USABLE
        this.#answer = answer as Leased
        this.#answeredAt = answeredAt
      }
      return answer as Leased
    } catch (error) {
      const failure = error instanceof StoreFailure ? error : new StoreFailure('protocol', 'unknown', `${name}: lease`, { cause: error })
      if (failure.executed === 'no') this.#returning += returned
      throw failure
    }
  }
}
