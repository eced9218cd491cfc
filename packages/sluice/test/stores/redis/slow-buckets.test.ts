import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { tokenBucket } from '../../../src/algorithms/token-bucket.ts'
import { createLimiter } from '../../../src/create-limiter.ts'
import { ioredis, bareRedisStore } from '../../../src/stores/redis/index.ts'
import type { Store } from '../../../src/stores/store.ts'
import { withLeases } from '../../../src/stores/remote/remote-store.ts'

const { redis: url } = inject('engines')

/** Buckets that take longer to fill than the time since 1970. So the instant at which a full one was last empty is before 1970. */
const SLOW = [
  ['1/365d', 100, 1],
  ['1/30d', 1_000, 10],
  ['1/d', 20_800, 1],
  ['1/h', 100, 1],
] as const

describe.skipIf(url === undefined)('X1: a bucket that takes longer to fill than the time since 1970 is a limit', () => {
  const redis = new Redis(url ?? '', { lazyConnect: true })
  const client = ioredis(redis)
  let made = 0
  const prefixed = (): string => `slow-${process.pid}-${(made += 1)}:`
  beforeAll(() => redis.connect())
  afterAll(() => redis.quit())

  describe.each([
    ['each state a string', () => bareRedisStore({ client, prefix: prefixed() })],
    ['packed', () => bareRedisStore({ client, prefix: prefixed(), layout: 'packed' })],
    ['leased', () => withLeases(bareRedisStore({ client, prefix: prefixed() }))],
  ] as [string, () => Store][])('%s', (_, open) => {
    it.each(SLOW)('%s with a burst of %d', async (rate, burst, cost) => {
      const limiter = createLimiter({ limit: tokenBucket({ rate, burst }), store: open(), deadlineMs: 10_000 })
      let passed = 0
      for (let index = 0; index < 150; index += 1) if ((await limiter.check('k', { cost })).allowed) passed += cost
      expect(passed).toBe(Math.min(burst, 150 * cost))
      // Nothing is refilled during the test. So all that passes together is at most the burst.
      while ((await limiter.check('k', { cost: burst / 100 })).allowed) passed += burst / 100
      expect(passed).toBeLessThanOrEqual(burst)
      expect(passed).toBeGreaterThan(burst - burst / 100)
      await limiter.refund('k', { cost: burst })
      expect((await limiter.check('k', { cost: burst / 2 })).allowed).toBe(true)
      await limiter.close()
    })
  })

  it('in one batch, and in a group with another limit', async () => {
    const limits = { slow: tokenBucket({ rate: '1/365d', burst: 100 }), quick: tokenBucket({ rate: '1/s', burst: 200 }) }
    const limiter = createLimiter({ limits, store: bareRedisStore({ client, prefix: prefixed() }), deadlineMs: 10_000 })
    const decisions = await limiter.checkMany(Array.from({ length: 150 }, () => ({ key: 'k' })))
    expect(decisions.map(({ outcome }) => outcome)).toEqual([...Array(100).fill('allowed'), ...Array(50).fill('denied')])
    expect(decisions.at(-1)).toMatchObject({ limitName: 'slow' })
    await limiter.close()
  })
})
