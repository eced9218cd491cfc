import { tokenBucket } from './algorithms/token-bucket.ts'
import type { AnyLimit } from './algorithms/algorithm.ts'
import { microCost } from './algorithms/decimal.ts'
import { checkOptions, type Form, MILLISECONDS, oneOf } from './errors/options.ts'
import { validKey } from './keys/encode.ts'
import { toSeconds } from './time/micros.ts'
import { systemTime } from './time/system.ts'
import { type Scope, type Store, StoreFailure } from './stores/store.ts'
import { ioredis, type IoredisLike, redisStore } from './stores/redis/index.ts'
import { resilient } from './stores/wrap/resilient.ts'

/** The result of the article's class; numbers are whole tokens but for a capacity with decimals. */
export interface RateLimitResult {
  readonly allowed: boolean
  /** Whole tokens left; 0 where Redis could not say. */
  readonly remaining: number
  /** The capacity that was asked for. */
  readonly limit: number
  /** Whole seconds; 0 when allowed. */
  readonly retryAfter: number
  /** Set when Redis could not decide and the failure policy did: why. */
  readonly degraded?: string
}

export interface DistributedRateLimiterOptions {
  /** What to answer while Redis cannot: `closed` refuses (default), `open` lets pass. */
  readonly failurePolicy?: 'closed' | 'open'
  /** Milliseconds Redis may take; default 50. */
  readonly deadlineMs?: number
}

const FORMS: Readonly<Record<string, Form>> = { failurePolicy: oneOf('closed', 'open'), deadlineMs: MILLISECONDS }
/** Its keys are the prefix and the identifier alone. */
const BARE: Scope = { text: '' }
/** Limits remembered by (capacity, refillRate); beyond it the oldest is computed again. */
const REMEMBERED = 1_000
/** Seconds after which a caller may try again while Redis is away. */
const PROBE_SECONDS = 1

/**
 * The class of Rate Limiting at Scale's quick start, over the exact store with everything around it (`resilient`): takes a raw ioredis client, keeps its states under
 * `rl:<identifier>`, decides on the server's clock, and answers within its deadline when Redis does not. Of the client's options
 * `autoResendUnfulfilledCommands: false` matters: without it ioredis sends a call again whose answer was lost, which charges twice.
 */
export class DistributedRateLimiter {
  readonly #store: Store
  readonly #limits = new Map<string, AnyLimit>()
  readonly #open: boolean
  readonly #deadlineMs: number

  constructor(redis: IoredisLike, options: DistributedRateLimiterOptions = {}) {
    checkOptions('DistributedRateLimiter', options, FORMS)
    const { failurePolicy = 'closed', deadlineMs = 50 } = options
    this.#deadlineMs = deadlineMs
    const store = redisStore({ client: ioredis(redis), prefix: 'rl:' })
    this.#store = resilient(store, { deadlineMs: this.#deadlineMs })
    this.#open = failurePolicy === 'open'
  }

  /**
   * Takes `cost` tokens from the bucket of `identifier`, which holds `capacity` and is refilled by `refillRate` a second.
   * A cost that can never pass is told to wait ceil(capacity / refillRate) seconds.
   * @throws LimiterError INVALID_KEY, INVALID_COST, INVALID_RATE, INVALID_BURST, or LIMIT_NOT_EXACT for a pair no whole numbers carry
   */
  async consume(identifier: string, capacity: number, refillRate: number, cost: number = 1): Promise<RateLimitResult> {
    const limit = this.#limitOf(capacity, refillRate)
    const micro = microCost(cost)
    const id = { scope: BARE, key: validKey('DistributedRateLimiter', identifier) }
    const options = { deadline: systemTime.monotonic() + this.#deadlineMs }
    try {
      const [verdict] = await this.#store.consume([{ calls: [{ id, limit, cost: micro, phase: 0 }] }], options)
      const call = verdict?.calls[0]
      if (verdict === undefined || call === undefined) throw new StoreFailure('protocol', 'unknown', 'redis: no verdict')
      const never = call.outcome === 'impossible'
      const retryAfter = never ? Math.ceil(capacity / refillRate) : toSeconds(call.retryAfter)
      return { allowed: verdict.allowed, remaining: call.remaining, limit: capacity, retryAfter }
    } catch (error) {
      if (!(error instanceof StoreFailure)) throw error
      return { allowed: this.#open, remaining: 0, limit: capacity, retryAfter: PROBE_SECONDS, degraded: error.kind }
    }
  }

  /** Lets calls under way be answered, and stops; the client stays open. */
  async close(): Promise<void> {
    await this.#store.close()
  }

  #limitOf(capacity: number, refillRate: number): AnyLimit {
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
