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

/** What `consume` returns: the fields of the article Rate Limiting at Scale, and `degraded`. */
export interface RateLimitResult {
  /** Whether the request may pass. */
  readonly allowed: boolean
  /** Whole tokens; 0 if Redis could not answer. */
  readonly remaining: number
  /** The capacity that was passed to `consume`. */
  readonly limit: number
  /** Whole seconds; 0 if Redis allowed the request, 1 if it could not answer. */
  readonly retryAfter: number
  /** Why Redis could not decide. Absent if Redis decided. */
  readonly degraded?: string
}

/** Options of `DistributedRateLimiter`. */
export interface DistributedRateLimiterOptions {
  /** While Redis cannot decide, `closed` refuses calls (default), and `open` lets them pass. */
  readonly failurePolicy?: 'closed' | 'open' | undefined
  /** Milliseconds that Redis may take for a call. Default 50, or up to 1,000 while the first connection is made. */
  readonly deadlineMs?: number | undefined
}

const FORMS: Readonly<Record<string, Form>> = { failurePolicy: oneOf('closed', 'open'), deadlineMs: MILLISECONDS }
/** Empty, so a key in Redis is only `rl:` and the identifier. */
const BARE: Scope = { text: '' }
/** Beyond this number of limits, the oldest is dropped. */
const REMEMBERED = 1_000
const PROBE_SECONDS = 1

/**
 * The class of the quick start in the article Rate Limiting at Scale, on top of `remoteStore`. It takes a raw ioredis client and keeps
 * states under `rl:<identifier>`. Set the client's option `autoResendUnfulfilledCommands: false`. Otherwise ioredis sends a command again
 * if its reply was lost, which charges twice.
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
   * Takes `cost` tokens from a bucket that is refilled at `refillRate` tokens per second. For a cost above `capacity`, `retryAfter` is
   * ceil(capacity / refillRate).
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

  /** Waits for calls in flight. The client stays open. */
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

/** Refuses a number given as text, because it would also be the `limit` of the result. */
function requireNumber(code: ErrorCode, name: string, value: unknown): void {
  if (typeof value !== 'number')
    throw new LimiterError(code, `DistributedRateLimiter: ${name} is ${shown(value)}, expected a number above 0`)
}
