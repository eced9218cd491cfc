import { tokenBucket } from './algorithms/token-bucket.ts'
import type { AnyLimit } from './algorithms/algorithm.ts'
import { microCost } from './algorithms/decimal.ts'
import { type ErrorCode, LimiterError } from './errors/limiter-error.ts'
import { checkOptions, type Form, MILLISECONDS, oneOf, shown } from './errors/options.ts'
import { validKey } from './keys/encode.ts'
import { toSeconds } from './time/micros.ts'
import { ioredis, type IoredisLike } from './stores/redis/clients/ioredis.ts'
import { bareRedisStore } from './stores/redis/redis-store.ts'
import { remoteStore } from './stores/remote/remote-store.ts'
import { type Scope, type Store, StoreFailure } from './stores/store.ts'

/**
 * The result of `consume`, with the fields of the class in Rate Limiting at Scale. Numbers are whole tokens, except a `limit` with
 * decimals.
 */
export interface RateLimitResult {
  /** Whether the request may pass. */
  readonly allowed: boolean
  /** Whole tokens left; 0 if Redis could not answer. */
  readonly remaining: number
  /** The capacity that the caller passed. */
  readonly limit: number
  /** Whole seconds to wait; 0 if allowed. */
  readonly retryAfter: number
  /** The cause, if Redis could not decide and the failure policy decided instead. */
  readonly degraded?: string
}

/** Options of `DistributedRateLimiter`. */
export interface DistributedRateLimiterOptions {
  /** The answer while Redis cannot decide: `closed` refuses (default), `open` lets pass. */
  readonly failurePolicy?: 'closed' | 'open'
  /** Milliseconds that Redis may take, from the first call on; default 50, which may become 1,000 while the first connection is made. */
  readonly deadlineMs?: number
}

const FORMS: Readonly<Record<string, Form>> = { failurePolicy: oneOf('closed', 'open'), deadlineMs: MILLISECONDS }
/** An empty scope: a key in Redis is only the prefix and the identifier. */
const BARE: Scope = { text: '' }
/** The most limits to remember, by (capacity, refillRate). Beyond this number the oldest is dropped; it is computed again when needed. */
const REMEMBERED = 1_000
/** `retryAfter` in seconds while Redis does not answer. */
const PROBE_SECONDS = 1

/**
 * The class of Rate Limiting at Scale's quick start, over the exact Redis store with the ring (`remoteStore`). It takes a raw ioredis
 * client, keeps states under `rl:<identifier>`, decides on the server's clock, and answers within its deadline even if Redis does not. Set
 * the client's option `autoResendUnfulfilledCommands: false`. Without it ioredis resends a command whose reply was lost, which charges
 * twice.
 */
export class DistributedRateLimiter {
  readonly #store: Store
  readonly #limits = new Map<string, AnyLimit>()
  readonly #open: boolean

  constructor(redis: IoredisLike, options: DistributedRateLimiterOptions = {}) {
    checkOptions('DistributedRateLimiter', options, FORMS)
    const { failurePolicy = 'closed', deadlineMs } = options
    this.#store = remoteStore(
      bareRedisStore({ client: ioredis(redis), prefix: 'rl:' }),
      deadlineMs === undefined ? {} : { deadline: deadlineMs },
    )
    this.#open = failurePolicy === 'open'
  }

  /**
   * Takes `cost` tokens from the bucket of `identifier`, which holds `capacity` tokens and is refilled at `refillRate` tokens per second.
   * For a cost that can never pass, `retryAfter` is ceil(capacity / refillRate) seconds.
   * @throws LimiterError INVALID_KEY, INVALID_COST, INVALID_RATE, INVALID_BURST, or LIMIT_NOT_EXACT if whole numbers below 2^53 cannot
   * represent capacity and rate
   */
  async consume(identifier: string, capacity: number, refillRate: number, cost: number = 1): Promise<RateLimitResult> {
    const limit = this.#limitOf(capacity, refillRate)
    const micro = microCost(cost)
    const id = { scope: BARE, key: validKey('DistributedRateLimiter', identifier) }
    try {
      const [verdict] = await this.#store.decide([{ calls: [{ id, limit, cost: micro, phase: 0 }] }])
      if (verdict?.failure !== undefined) throw verdict.failure
      const call = verdict?.calls[0]
      if (verdict === undefined || call === undefined) throw new StoreFailure('protocol', 'unknown', 'redis: no verdict')
      const retryAfter = call.outcome === 'impossible' ? Math.ceil(capacity / refillRate) : toSeconds(call.retryAfter)
      return { allowed: verdict.outcome === 'allowed', remaining: call.remaining, limit: capacity, retryAfter }
    } catch (error) {
      if (!(error instanceof StoreFailure)) throw error
      return { allowed: this.#open, remaining: 0, limit: capacity, retryAfter: PROBE_SECONDS, degraded: error.kind }
    }
  }

  /** Waits for calls in flight, then closes the store. The client stays open. */
  async close(): Promise<void> {
    await this.#store.close()
  }

  #limitOf(capacity: number, refillRate: number): AnyLimit {
    requireNumber('INVALID_BURST', 'capacity', capacity)
    requireNumber('INVALID_RATE', 'refillRate', refillRate)
    const name = `${capacity}/${refillRate}`
    const known = this.#limits.get(name)
    if (known !== undefined) return known
    const limit = tokenBucket({ rate: { tokens: refillRate, per: '1s' }, burst: capacity })
    const [oldest] = this.#limits.keys()
    if (oldest !== undefined && this.#limits.size >= REMEMBERED) this.#limits.delete(oldest)
    this.#limits.set(name, limit)
    return limit
  }
}

/** A number as text is refused: it would also be the `limit` of the result. The limit's own constructor checks its value. */
function requireNumber(code: ErrorCode, name: string, value: unknown): void {
  if (typeof value !== 'number')
    throw new LimiterError(code, `DistributedRateLimiter: ${name} is ${shown(value)}, expected a number above 0`)
}
