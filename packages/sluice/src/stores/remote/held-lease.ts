import type { AnyLimit, MicroTokens } from '../../algorithms/algorithm.ts'
import type { BucketPlan } from '../../algorithms/bucket-plan.ts'
import { MICRO } from '../../algorithms/decimal.ts'
import type { Complete } from '../../errors/options.ts'
import { MICROS_PER_MS } from '../../time/micros.ts'
import type { MonotonicInstant, Time } from '../../time/time.ts'
import { type Call, type Decided, type Leased, type StateId, type Store, StoreFailure } from '../store.ts'
import type { LeaseOptions } from './options.ts'

export interface LeaseContext extends Complete<LeaseOptions> {
  readonly lease: NonNullable<Store['lease']>
  readonly name: string
  readonly clock: Time
  /**
   * How often the machine was suspended. Tokens leased before are not spent afterwards, because the monotonic clock may have stood still.
   */
  sleeps(now: MonotonicInstant): number
}

/** An answer that granted nothing for a call of this cost. */
export type Refusal = Leased & { readonly cost: MicroTokens }

/** How often in its life a lease is checked (`check`). Request sizes adapt so that a busy key sends about as many requests. */
export const CHECKS = 4
/** The fraction of a lease's life in which its tokens are spent. The rest allows for clocks that run at different rates. */
const USABLE = 0.8
/** A request is for the tokens of at least MIN_CALLS calls, at first FIRST_CALLS, and is at most MAX_GROWTH times the one before. */
const [MIN_CALLS, FIRST_CALLS, MAX_GROWTH] = [4, 8, 8]

export class HeldLease {
  readonly id: StateId
  limit: AnyLimit
  sequence = 0
  /** How many callers wait for tokens. */
  waiting = 0
  /** Whether the key was called since the last check. */
  used = true
  givingBack: Promise<unknown> | undefined
  readonly #context: LeaseContext
  /** Unique per lease, so a late return of an earlier lease of the key cannot credit this one. */
  readonly #holder: number
  /** Calls since `#since`, counted until the key is leased. */
  #calls = 0
  #since: MonotonicInstant = Number.NEGATIVE_INFINITY
  #isLeased = false
  /**
   * `#tokens` may be spent until `#deadline`, unless the machine was suspended since (`#sleeps`). The next request returns `#returning`.
   */
  #tokens: MicroTokens = 0
  #deadline: MonotonicInstant = 0
  #sleeps = 0
  #returning: MicroTokens = 0
  /** `#want`: size of the next request, sent at `#low` tokens or fewer. `#notBefore`: not earlier, unless a caller waits. */
  #want: MicroTokens = 0
  #low: MicroTokens = 0
  #notBefore: MonotonicInstant = 0
  #request: Promise<Refusal | undefined> | undefined
  #requestedAt: MonotonicInstant = Number.NaN
  /** The latest deadline of waiting callers, because they share a request. */
  #waitUntil: MonotonicInstant = 0
  #answer: Leased | undefined
  #answeredAt: MonotonicInstant = 0

  constructor({ id, limit }: Call, holder: number, context: LeaseContext) {
    // A copy, because the caller may reuse its id object.
    this.id = { scope: id.scope, key: id.key }
    this.limit = limit
    this.#holder = holder
    this.#context = context
  }

  /** Returns whether the key is leased now. */
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

  /** In micro-tokens; 0 while the key is not leased. */
  get max(): MicroTokens {
    return this.#isLeased ? this.#share() : 0
  }

  /** In micro-tokens. */
  leasedTokens(now: MonotonicInstant): MicroTokens {
    return this.#isGood(now) ? this.#tokens : 0
  }

  /** Returns false, with nothing spent, if too few tokens are left. */
  spend(cost: MicroTokens, now: MonotonicInstant): boolean {
    if (!(this.#tokens >= cost && this.#isGood(now))) return false
    this.#tokens -= cost
    if (this.#tokens <= this.#low) this.refill(cost, now)
    return true
  }

  /** Undoes a `spend`, unless a request after `sequence` has reported its tokens as spent. */
  unspend(cost: MicroTokens, sequence: number, now: MonotonicInstant): void {
    if (sequence === this.sequence && this.#isGood(now)) this.#tokens += cost
  }

  /** Requests tokens ahead of need. */
  refill(cost: MicroTokens, now: MonotonicInstant): void {
    if (now >= this.#notBefore && cost <= this.max) this.#request ??= this.#requestTokens(cost, this.#nextSize(cost, now))
  }

  /**
   * Requests tokens for a caller that waits, or joins the request in flight. Resolves with the answer only if that granted nothing. Rejects
   * only if a request for waiting callers failed before its deadline.
   */
  request(cost: MicroTokens, deadline: MonotonicInstant, now: MonotonicInstant): Promise<Refusal | undefined> {
    this.#waitUntil = Math.max(this.#waitUntil, deadline)
    return (this.#request ??= this.#requestTokens(cost, this.#nextSize(cost, now), this.#waitUntil))
  }

  /** Returns all tokens, once. Rejects with a StoreFailure if the store did not take them. */
  giveBack(deadline: MonotonicInstant): Promise<unknown> {
    return (this.givingBack ??= this.#return(deadline))
  }

  /** Renews a lease that ends soon. Returns false if it is not needed any more. */
  check(now: MonotonicInstant): boolean {
    if (this.#request !== undefined || this.givingBack !== undefined) return true
    const { used } = this
    this.used = false
    if (this.leasedTokens(now) + this.#returning === 0 || !used) return used
    const isEnding = this.#deadline < now + (this.#context.lifeMs * USABLE) / 2
    if (isEnding && this.#isLeased) this.#request = this.#requestTokens(1, now < this.#notBefore ? 0 : this.#want)
    return this.#isLeased
  }

  /** `remaining` counts leased tokens only. The waits and the time are those of the last answer, adjusted to now. */
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

  /** Tokens leased under other numbers are returned with the next request. */
  #change(limit: AnyLimit): void {
    const [was, is] = [this.limit.plan, limit.plan] as [BucketPlan, BucketPlan]
    this.limit = limit
    if (was.n === is.n && was.m === is.m && was.burst === is.burst) return
    this.#returning += this.#tokens
    this.#tokens = 0
    this.#want = Math.min(this.#want, this.max)
  }

  #nextSize(cost: MicroTokens, now: MonotonicInstant): MicroTokens {
    const each = this.#context.lifeMs / CHECKS
    const elapsed = Math.max(0.001, now - this.#requestedAt)
    if (elapsed < each) this.#want *= Math.min(MAX_GROWTH, Math.max(2, each / elapsed))
    else if (elapsed > 2 * each) this.#want /= 2
    return (this.#want = Math.floor(Math.min(this.max, Math.max(this.#want, MIN_CALLS * cost))))
  }

  /** @param until the latest deadline of waiting callers, who get the request's failure; absent if none waits */
  async #requestTokens(cost: MicroTokens, size: MicroTokens, until?: MonotonicInstant): Promise<Refusal | undefined> {
    const { clock, lifeMs } = this.#context
    const deadline = until ?? clock.monotonic() + lifeMs / CHECKS
    try {
      const answer = await this.#send(cost, size, deadline)
      if (answer.granted >= cost || size === 0) return undefined
      // The bucket may have the tokens although the store does not lease them.
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

  /** Requests at least the cost, or nothing if `size` is 0. @throws StoreFailure */
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
