import { checkOptions, type Form } from './errors/options.ts'
import { type BareRedisOptions, bareRedisStore } from './stores/redis/index.ts'
import { REDIS_FORMS } from './stores/redis/redis-store.ts'
import type { RemoteStore, RemoteStoreOptions } from './stores/remote/remote-store.ts'
import { ringForm, withRing } from './with-ring.ts'

export { DistributedRateLimiter, type DistributedRateLimiterOptions, type RateLimitResult } from './distributed-rate-limiter.ts'
export { ioredis, type IoredisLike } from './stores/redis/clients/ioredis.ts'
export { nodeRedis, type NodeRedisLike } from './stores/redis/clients/node-redis.ts'
export { valkeyGlide, type ValkeyGlideLike } from './stores/redis/clients/valkey-glide.ts'
export type { BareRedisOptions, Connections, PackingOptions, RedisPort } from './stores/redis/index.ts'
export type { OnFull } from './stores/redis/packed/new-keys.ts'
export { hashTagOf } from './stores/redis/names.ts'
export type { RemoteStore, RemoteStoreOptions }

/** Options of `redisStore`. */
export interface RedisStoreOptions extends BareRedisOptions {
  /** Options of the `remoteStore` around this store: deadline, batching, breaker, cached denials and leases. `false`: none of these. */
  readonly ring?: Omit<RemoteStoreOptions, 'clock'> | false | undefined
}

const FORMS: Readonly<Record<string, Form>> = { ...REDIS_FORMS, ring: ringForm('clock') }

/**
 * A store in Redis (7 or later) or Valkey. Decisions take one round trip, use the server's clock, and are exact with any number of
 * processes. On a Cluster, calls whose states are in several slots are decided slot by slot, and not in one round trip.
 * @throws LimiterError INVALID_OPTIONS, also for a client that was not wrapped by a function such as `ioredis`, and for a prefix with
 * braces or blanks
 */
export function redisStore(options: RedisStoreOptions): RemoteStore {
  checkOptions('redisStore', options, FORMS)
  const { ring, ...bare } = options
  return withRing(bareRedisStore(bare), ring, bare.clock === undefined ? {} : { clock: bare.clock }, {})
}
