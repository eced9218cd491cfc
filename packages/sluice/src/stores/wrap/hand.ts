import type { AnyLimit, MicroTokens } from '../../algorithms/algorithm.ts'
import { MICRO } from '../../algorithms/decimal.ts'
import type { Micros } from '../../time/micros.ts'
import type { MonotonicInstant } from '../../time/time.ts'
import { MICROS_PER_MS } from '../../time/micros.ts'
import type { CallOptions, GroupVerdict, LeaseAnswer, StateId, Verdict } from '../store.ts'

/** A caller that waits for the answer to a request for tokens. */
export interface Waiter {
  readonly cost: MicroTokens
  readonly options: CallOptions | undefined
  /** A verdict, or undefined where the store has to be asked for this call itself. */
  give(verdict: GroupVerdict | undefined): void
  fail(failure: unknown): void
}

/** A lease must be good for so many calls, or the calls go to the store. */
const MIN_CALLS = 4
/** The first lease of a key is for so many calls. */
const FIRST_CALLS = 8
/** At most so many times more is asked for than the time before. */
const STEP = 8

/** What one process has in hand of one state, and how it has fared with it. */
export class Hand {
  /** Its number at the store. */
  readonly holder: number
  readonly id: StateId
  limit: AnyLimit
  /** In hand, to be spent before `deadline` alone. */
  tokens: MicroTokens = 0
  deadline: MonotonicInstant = 0
  /** To be given back with the next request. */
  returning: MicroTokens = 0
  /** How much to ask for next, and at most ever. */
  want: MicroTokens = 0
  most: MicroTokens = 0
  /** At so little left, more is asked for. */
  low: MicroTokens = 0
  /** Whether tokens are asked for at all: the key is asked often enough, and its calls are small. */
  leased = false
  /** A request is under way. */
  asking = false
  /** NaN until it was. */
  askedAt: MonotonicInstant = Number.NaN
  /** No more is asked for in advance before this. */
  notBefore: MonotonicInstant = 0
  /** Calls since `since`, until the key is leased. */
  calls = 0
  since: MonotonicInstant
  /** Whether it was called since the last look. */
  used = true
  readonly waiters: Waiter[] = []
  /** Runs when the request under way has been answered. */
  afterwards: (() => void) | undefined
  /** What the store said last, and when it was heard. */
  #at: Micros = 0
  #replenishAfter: Micros = 0
  #resetAfter: Micros = 0
  #heardAt: MonotonicInstant = 0

  constructor(holder: number, id: StateId, limit: AnyLimit, now: MonotonicInstant) {
    this.holder = holder
    this.id = id
    this.limit = limit
    this.since = now
  }

  /** Leases the key from now on, where its bucket is large against its calls. */
  begin(cost: MicroTokens): void {
    this.want = Math.min(this.most, FIRST_CALLS * cost)
    this.leased = this.most >= MIN_CALLS * cost
  }

  /**
   * How much to ask for next: more where the last lease was used up sooner, less where it lasted longer.
   * @param each milliseconds that a lease should last
   */
  size(cost: MicroTokens, now: MonotonicInstant, each: number): void {
    const elapsed = Math.max(0.001, now - this.askedAt)
    if (elapsed < each) this.want *= Math.min(STEP, Math.max(2, each / elapsed))
    else if (elapsed > 2 * each) this.want /= 2
    this.want = Math.floor(Math.min(this.most, Math.max(this.want, MIN_CALLS * cost)))
  }

  /** @param deadline of everything in hand, counted from before the request was sent */
  hear({ granted, at, verdict }: LeaseAnswer, now: MonotonicInstant, deadline: MonotonicInstant): void {
    this.expire(now)
    this.deadline = deadline
    this.#at = at
    this.#heardAt = now
    this.#replenishAfter = verdict.replenishAfter
    this.#resetAfter = verdict.resetAfter
    if (now < deadline) this.tokens += granted
    this.low = Math.floor(this.tokens / 2)
  }

  /** What was not spent by its deadline is nobody's. */
  expire(now: MonotonicInstant): void {
    if (now >= this.deadline) this.tokens = 0
  }

  /** Store time, as far as this process can tell: not before the answer, and before the lease ends. */
  at(now: MonotonicInstant): Micros {
    return this.#at + Math.floor((now - this.#heardAt) * MICROS_PER_MS)
  }

  /** One call as it stands: `remaining` is what this process can certainly still admit, the waits are as the store said them. */
  view(now: MonotonicInstant): Verdict {
    const passed = Math.floor((now - this.#heardAt) * MICROS_PER_MS)
    return {
      outcome: 'allowed',
      retryAfter: 0,
      remaining: Math.floor(this.tokens / MICRO),
      replenishAfter: Math.max(0, this.#replenishAfter - passed),
      resetAfter: Math.max(0, this.#resetAfter - passed),
    }
  }

  /** A call admitted from what is in hand. */
  verdict(now: MonotonicInstant): GroupVerdict {
    return { outcome: 'allowed', allowed: true, at: this.at(now), calls: [this.view(now)], source: 'lease' }
  }

  failAll(failure: unknown): void {
    for (const waiter of this.waiters.splice(0)) waiter.fail(failure)
  }
}

/** The verdict of a request that was granted nothing. */
export function refusedBy({ at, verdict }: LeaseAnswer): GroupVerdict {
  const { outcome, retryAfter } = verdict
  return { outcome, allowed: false, at, retryAfter: outcome === 'denied' ? retryAfter : undefined, calls: [verdict], source: 'lease' }
}
