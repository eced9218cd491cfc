export { DistributedRateLimiter, type DistributedRateLimiterOptions, type RateLimitResult } from './distributed-rate-limiter.ts'
export * from './stores/redis/index.ts'
