import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { DistributedRateLimiter } from '../../src/redis.ts'

const { redis: url } = inject('engines')

describe.skipIf(url === undefined)('DistributedRateLimiter, as Rate Limiting at Scale types it', () => {
  const redis = new Redis(url ?? '', { lazyConnect: true })
  // Far more than an answer takes while other tests run.
  const limiter = new DistributedRateLimiter(redis, { deadlineMs: 10_000 })
  const user = `user:${process.pid}:${Date.now()}`
  beforeAll(() => redis.connect())
  afterAll(async () => {
    await redis.del(`rl:${user}`, `rl:${user}:never`)
    await limiter.close()
    await redis.quit()
  })

  it('counts down from capacity and denies with whole seconds', async () => {
    const from = performance.now()
    expect(await limiter.consume(user, 3, 0.01)).toEqual({ allowed: true, remaining: 2, limit: 3, retryAfter: 0 })
    await limiter.consume(user, 3, 0.01, 2)
    const { retryAfter, ...denied } = await limiter.consume(user, 3, 0.01)
    expect(denied).toEqual({ allowed: false, remaining: 0, limit: 3 })
    // A token takes 100 seconds, of which some may have passed meanwhile.
    const passed = (performance.now() - from) / 1_000
    expect([Number.isInteger(retryAfter), retryAfter <= 100, retryAfter >= 100 - passed]).toEqual([true, true, true])
    expect(await redis.pttl(`rl:${user}`)).toBeGreaterThan(0)
  })

  it('a cost that can never pass reports the time of a whole bucket', async () => {
    expect(await limiter.consume(`${user}:never`, 10, 4, 11)).toEqual({ allowed: false, remaining: 10, limit: 10, retryAfter: 3 })
  })

  it('replaces what the article’s own script left under the key', async () => {
    await redis.del(`rl:${user}`)
    await redis.hset(`rl:${user}`, { tokens: '3', last_refill: '1' })
    expect(await limiter.consume(user, 5, 1)).toMatchObject({ allowed: true, remaining: 4 })
  })

  it('recovers from an emptied script cache unseen', async () => {
    await redis.script('FLUSH')
    expect(await limiter.consume(user, 5, 1)).not.toHaveProperty('degraded')
  })

  it.each([Number.NaN, -5, 0, 1e309])('refuses a cost of %s', async (cost) => {
    await expect(limiter.consume(user, 5, 1, cost)).rejects.toMatchObject({ code: 'INVALID_COST' })
  })
})

describe('DistributedRateLimiter without a Redis', () => {
  it.each([
    ['closed', false],
    ['open', true],
  ] as const)('%s answers by its deadline and says why', async (failurePolicy, allowed) => {
    const redis = new Redis({ port: 1, lazyConnect: true, retryStrategy: () => null, enableOfflineQueue: false })
    redis.on('error', () => {})
    const limiter = new DistributedRateLimiter(redis, { failurePolicy })
    expect(await limiter.consume('k', 100, 10)).toMatchObject({
      allowed,
      remaining: 0,
      limit: 100,
      retryAfter: 1,
      degraded: expect.any(String),
    })
    await limiter.close()
    redis.disconnect()
  })
})
