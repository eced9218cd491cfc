export { DistributedRateLimiter, type DistributedRateLimiterOptions, type RateLimitResult } from './distributed-rate-limiter.ts'
export { ioredis, type IoredisLike } from './ioredis.ts'
export type { RedisPort } from './redis-port.ts'
export { redisStore, type RedisStoreOptions } from './redis-store.ts'
