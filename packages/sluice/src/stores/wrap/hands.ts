import type { MicroTokens } from '../../algorithms/algorithm.ts'
import type { BucketPlan } from '../../algorithms/bucket-plan.ts'
import { MICROS_PER_MS } from '../../time/micros.ts'
import type { Cancel, MonotonicInstant, Random, Time } from '../../time/time.ts'
import {
  type Call,
  type CallOptions,
  type GroupVerdict,
  type LeaseAnswer,
  type Scope,
  type StateId,
  type Store,
  StoreFailure,
} from '../store.ts'
import { Hand, type Waiter, refusedBy } from './hand.ts'
import { type SleepWatch, watchSleep } from './sleep.ts'

export interface HandsOptions {
  readonly lease: NonNullable<Store['lease']>
  readonly clock: Time
  readonly random: Random
  /** Milliseconds that a lease lasts at the store. */
  readonly lifeMs: number
  /** Of a burst, at most this part is asked for. */
  readonly share: number
  /** A key is leased once it was called so often within one life. */
  readonly afterCalls: number
  readonly maxKeys: number
}

/** Of its life, so much of a lease is spent: the rest is for clocks that run apart. */
const USABLE = 0.8
/** A wall clock that has moved so much of a life from the monotonic one: the machine was asleep. */
const ASLEEP = 0.1
/** Times in a life that leases are looked after, and that a busy key should ask at most. */
const LOOKS = 4

/**
 * The tokens that this process has in hand, by state. Asks for more before they run out, gives back what lies idle, and spends nothing after its
 * deadline or after the machine has slept.
 */
export class Hands {
  readonly #options: HandsOptions
  readonly #byScope = new Map<Scope, Map<string, Hand>>()
  /** Every hand is a holder of its own: what an earlier hand of the key still gives back is not this one's. */
  #holders: number
  #sequence = 0
  #size = 0
  /** Rises when everything in hand was dropped. */
  #epoch = 0
  readonly #sleep: SleepWatch
  #stop: Cancel | undefined

  constructor(options: HandsOptions) {
    this.#options = options
    this.#holders = Math.floor(options.random() * 2 ** 26) * 2 ** 26 + Math.floor(options.random() * 2 ** 26)
    this.#sleep = watchSleep(options.clock, options.lifeMs * ASLEEP)
  }

  /** Micro-tokens in hand now. */
  get inHand(): MicroTokens {
    const now = this.#options.clock.monotonic()
    return this.#all().reduce((sum, { tokens, deadline }) => sum + (now < deadline ? tokens : 0), 0)
  }

  /** The hand of a state, and that it was called; undefined where none can be had. */
  find({ id, limit, cost }: Call, now: MonotonicInstant): Hand | undefined {
    let keys = this.#byScope.get(id.scope)
    let hand = keys?.get(id.key)
    if (hand === undefined) {
      if (limit.algorithm.tag !== 'tb' || this.#size >= this.#options.maxKeys) return undefined
      // The caller may fill in its id anew for the next call.
      hand = new Hand((this.#holders += 1), { scope: id.scope, key: id.key }, limit, now)
      if (keys === undefined) this.#byScope.set(id.scope, (keys = new Map()))
      keys.set(id.key, hand)
      this.#size += 1
      this.#stop ??= this.#options.clock.after(this.#options.lifeMs / LOOKS, () => this.#look())
    }
    hand.used = true
    if (hand.limit !== limit) this.#changed(hand, limit)
    if (!hand.leased) this.#count(hand, cost, now)
    return hand
  }

  /** Takes the cost out of what is in hand. False where that is too little. */
  spend(hand: Hand, cost: MicroTokens, now: MonotonicInstant): boolean {
    if (hand.tokens < cost || now >= hand.deadline || this.#slept(now)) return false
    hand.tokens -= cost
    if (hand.tokens <= hand.low && !hand.asking && now >= hand.notBefore) this.#askMore(hand, cost, now)
    return true
  }

  /** Admits a call from what is in hand; undefined, and nothing noted, where the store must be asked or others wait for tokens. */
  decide({ id, limit, cost }: Call, now: MonotonicInstant): GroupVerdict | undefined {
    const hand = this.#byScope.get(id.scope)?.get(id.key)
    if (hand === undefined || !hand.leased || hand.limit !== limit || hand.waiters.length > 0) return undefined
    if (!this.spend(hand, cost, now)) return undefined
    hand.used = true
    return hand.verdict(now)
  }

  /** The hand that a call was taken out of; undefined where the store must be asked for it. */
  take(call: Call, now: MonotonicInstant): Hand | undefined {
    const hand = this.find(call, now)
    if (hand?.leased !== true || hand.waiters.length > 0) return undefined
    if (this.spend(hand, call.cost, now)) return hand
    if (!hand.asking && now >= hand.notBefore && call.cost <= hand.most) this.#askMore(hand, call.cost, now)
    return undefined
  }

  /** Gives back what was taken for a call that came to nothing. */
  unspend(hand: Hand, cost: MicroTokens, epoch: number): void {
    if (epoch === this.#epoch && this.#options.clock.monotonic() < hand.deadline) hand.tokens += cost
  }

  get epoch(): number {
    return this.#epoch
  }

  /** Asks the store for tokens for a call that waits, or joins the request under way. */
  wait(hand: Hand, waiter: Waiter): void {
    hand.waiters.push(waiter)
    if (!hand.asking) this.#askMore(hand, waiter.cost, this.#options.clock.monotonic(), waiter.options ?? {})
  }

  /** Gives everything of these states back, or of all, before something else is done with them. */
  async settle(ids?: readonly StateId[], options?: CallOptions): Promise<void> {
    const hands = ids === undefined ? this.#all() : ids.flatMap(({ scope, key }) => this.#byScope.get(scope)?.get(key) ?? [])
    await Promise.all(hands.map((hand) => this.#giveBack(hand, options)))
  }

  /** Settles, and looks after nothing any more. */
  async close(options: CallOptions): Promise<void> {
    this.#stop?.()
    await this.settle(undefined, options)
    this.#stop?.()
    this.#stop = undefined
  }

  #all(): Hand[] {
    return [...this.#byScope.values()].flatMap((keys) => [...keys.values()])
  }

  #remove({ id: { scope, key } }: Hand): void {
    const keys = this.#byScope.get(scope)
    if (keys?.delete(key) !== true) return
    this.#size -= 1
    if (keys.size === 0) this.#byScope.delete(scope)
  }

  #changed(hand: Hand, limit: Hand['limit']): void {
    const [was, is] = [hand.limit.plan, limit.plan] as [BucketPlan, BucketPlan]
    hand.limit = limit
    if (was.n === is.n && was.m === is.m && was.burst === is.burst) return
    hand.returning += hand.tokens
    hand.tokens = 0
    hand.most = this.#mostOf(limit)
    hand.want = Math.min(hand.want, hand.most)
  }

  #count(hand: Hand, cost: MicroTokens, now: MonotonicInstant): void {
    if (now - hand.since > this.#options.lifeMs) {
      hand.calls = 0
      hand.since = now
    }
    hand.calls += 1
    if (hand.calls < this.#options.afterCalls || now < hand.notBefore) return
    hand.most = this.#mostOf(hand.limit)
    hand.begin(cost)
  }

  #mostOf({ plan }: Hand['limit']): MicroTokens {
    return Math.floor((plan as BucketPlan).burst * this.#options.share)
  }

  #askMore(hand: Hand, cost: MicroTokens, now: MonotonicInstant, options?: CallOptions): void {
    hand.size(cost, now, this.#options.lifeMs / LOOKS)
    this.#ask(hand, cost, hand.want, now, options)
  }

  #ask(hand: Hand, cost: MicroTokens, wanted: MicroTokens, now: MonotonicInstant, options?: CallOptions): void {
    const { lease, lifeMs } = this.#options
    this.#slept(now)
    hand.expire(now)
    const want = wanted === 0 ? 0 : Math.max(cost, Math.min(wanted, hand.most - hand.tokens))
    hand.asking = true
    hand.askedAt = now
    const { tokens: kept, returning: returned, id, limit, holder } = hand
    hand.returning = 0
    const epoch = this.#epoch
    const call: Call = { id, limit, cost, phase: 0 }
    const request = { call, want, holder, sequence: (this.#sequence += 1), life: lifeMs * MICROS_PER_MS, kept, returned }
    const deadline = options === undefined ? now + lifeMs / LOOKS : options.deadline
    lease([request], deadline === undefined ? undefined : { deadline }).then(
      ([answer]) => {
        hand.asking = false
        const heard = this.#options.clock.monotonic()
        this.#slept(heard)
        if (answer !== undefined && epoch === this.#epoch) hand.hear(answer, heard, now + lifeMs * USABLE)
        this.#answered(hand, answer, cost, want, heard)
      },
      (error: unknown) => {
        hand.asking = false
        const failedAt = this.#options.clock.monotonic()
        hand.notBefore = failedAt + lifeMs / LOOKS / 4
        if (error instanceof StoreFailure && error.executed === 'no' && epoch === this.#epoch) hand.returning += returned
        const [first] = hand.waiters
        // What was asked for in advance was nobody's call: who waits now asks for himself.
        if (options === undefined && first !== undefined && hand.afterwards === undefined) {
          this.#askMore(hand, first.cost, failedAt, first.options ?? {})
          return
        }
        hand.failAll(error)
        hand.afterwards?.()
      },
    )
  }

  /** Serves who waits, in order: from what is in hand, by the denial that was told, or by asking again. */
  #answered(hand: Hand, answer: LeaseAnswer | undefined, asked: MicroTokens, want: MicroTokens, now: MonotonicInstant): void {
    const refused = answer !== undefined && answer.granted === 0 && want >= asked
    // The tokens are there, and there is no lease to be had.
    const unleased = refused && answer.verdict.outcome === 'allowed'
    if (unleased) hand.leased = false
    if (refused) {
      hand.notBefore = now + (unleased ? this.#options.lifeMs : Math.ceil(answer.verdict.retryAfter / MICROS_PER_MS))
      hand.want /= 2
    }
    while (hand.waiters.length > 0) {
      const waiter = hand.waiters[0] as Waiter
      if (hand.afterwards === undefined && this.spend(hand, waiter.cost, now)) {
        hand.waiters.shift()
        waiter.give(hand.verdict(now))
      } else if (refused && !unleased && waiter.cost === asked) {
        hand.waiters.shift()
        waiter.give(refusedBy(answer))
      } else if (unleased || hand.afterwards !== undefined || !hand.leased || waiter.cost > hand.most) {
        hand.waiters.shift()
        waiter.give(undefined)
      } else {
        if (!hand.asking) this.#askMore(hand, waiter.cost, now, waiter.options ?? {})
        break
      }
    }
    hand.afterwards?.()
  }

  async #giveBack(hand: Hand, options: CallOptions | undefined): Promise<void> {
    this.#remove(hand)
    if (hand.asking) {
      const before = hand.afterwards
      await new Promise<void>((resolve) => {
        hand.afterwards = () => {
          before?.()
          resolve()
        }
      })
    }
    hand.expire(this.#options.clock.monotonic())
    const returned = hand.tokens + hand.returning
    hand.tokens = 0
    hand.returning = 0
    if (returned === 0) return
    const { lease, lifeMs } = this.#options
    const call: Call = { id: hand.id, limit: hand.limit, cost: 1, phase: 0 }
    const life = lifeMs * MICROS_PER_MS
    await lease([{ call, want: 0, holder: hand.holder, sequence: (this.#sequence += 1), life, kept: 0, returned }], options)
  }

  /** Looks after what is in hand: idle tokens go back, busy ones are renewed. */
  #look(): void {
    const { clock, lifeMs } = this.#options
    const now = clock.monotonic()
    this.#slept(now)
    for (const hand of this.#all()) {
      if (hand.asking) continue
      hand.expire(now)
      const idle = !hand.used
      hand.used = false
      if (hand.leased && !idle) {
        const half = now + (lifeMs * USABLE) / 2
        if (hand.tokens + hand.returning > 0 && hand.deadline < half) this.#ask(hand, 1, now < hand.notBefore ? 0 : hand.want, now)
      } else if (hand.tokens + hand.returning > 0) this.#giveBack(hand, { deadline: now + lifeMs / LOOKS }).catch(() => {})
      else if (idle) this.#remove(hand)
    }
    this.#stop = this.#size === 0 ? undefined : clock.after(lifeMs / LOOKS, () => this.#look())
  }

  /** Drops everything where the machine has slept: the monotonic clock may have stood still meanwhile. */
  #slept(now: MonotonicInstant): boolean {
    if (!this.#sleep.slept(now)) return false
    this.#epoch += 1
    // What was to be given back was spent by nobody: it still is.
    for (const hand of this.#all()) hand.tokens = 0
    return true
  }
}
