import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { DistributedRateLimiter } from 'sluice/redis'
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it, onTestFinished } from 'vitest'

const { redis: url } = inject('engines')
const SOURCE = readFileSync(join(import.meta.dirname, '..', 'quick-start', 'rate_limit.lua'), 'utf8')
/** Milliseconds since 1970. */
const NOW = 1_800_000_000_000

type Reply = [allowed: number, remaining: number, retryAfter: number]

/** These tests cover every line of the script: if a sign, a constant or a comparison changes, a test fails. */
describe.skipIf(url === undefined)('examples/quick-start/rate_limit.lua', () => {
  const redis = new Redis(url ?? '', { lazyConnect: true })
  const key = `rl:script-test:${process.pid}`
  let sha = ''
  const call = (...args: (number | string)[]): Promise<unknown> => redis.evalsha(sha, 1, key, ...args)
  const consume = async (capacity: number, rate: number, now = NOW, cost: number | string = 1): Promise<Reply> =>
    (await call(capacity, rate, now, cost)) as Reply

  beforeAll(async () => {
    sha = (await redis.script('LOAD', SOURCE)) as string
  })
  beforeEach(async () => void (await redis.del(key)))
  afterAll(async () => {
    await redis.del(key)
    await redis.quit()
  })

  it('admits the capacity at once, and no token more', async () => {
    const replies: Reply[] = []
    for (let request = 0; request < 4; request += 1) replies.push(await consume(3, 1))
    expect(replies).toEqual([
      [1, 2, 0],
      [1, 1, 0],
      [1, 0, 0],
      [0, 0, 1],
    ])
  })

  it('admits a cost of the whole capacity', async () => {
    expect(await consume(5, 1, NOW, 5)).toEqual([1, 0, 0])
    expect(await consume(5, 1, NOW, 5)).toEqual([0, 0, 5])
  })

  it.each([6, 5.000_001])('refuses a cost of %d of 5, because no wait would help, and writes nothing', async (cost) => {
    await expect(consume(5, 1, NOW, cost)).rejects.toThrow(`ERR cost (ARGV[4]) ${cost} is above the capacity (ARGV[1]) 5`)
    expect(await redis.exists(key)).toBe(0)
  })

  it('refills at the rate, to the millisecond', async () => {
    expect(await consume(10, 4, NOW, 10)).toEqual([1, 0, 0])
    expect(await consume(10, 4, NOW + 249)).toEqual([0, 0, 1])
    expect(await consume(10, 4, NOW + 250)).toEqual([1, 0, 0])
    expect(await consume(10, 4, NOW + 750, 2)).toEqual([1, 0, 0])
  })

  it('a refused request takes nothing, and does not delay the next token', async () => {
    await consume(1, 1)
    for (const later of [300, 600, 999]) expect(await consume(1, 1, NOW + later)).toEqual([0, 0, 1])
    expect(await consume(1, 1, NOW + 1_000)).toEqual([1, 0, 0])
  })

  it('never holds more than the capacity', async () => {
    await consume(3, 1, NOW, 3)
    expect(await consume(3, 1, NOW + 4_000)).toEqual([1, 2, 0])
    await redis.del(key)
    await consume(10, 1, NOW, 1)
    // A call with a lower capacity lowers the tokens in the bucket, too.
    expect(await consume(4, 1)).toEqual([1, 3, 0])
  })

  it('rounds what remains down, and the wait up', async () => {
    expect(await consume(10, 0.5, NOW, 9.5)).toEqual([1, 0, 0])
    // 0.5 tokens are missing. At half a token a second that takes a second.
    expect(await consume(10, 0.5, NOW, 1)).toEqual([0, 0, 1])
    expect(await consume(10, 0.5, NOW, 1.001)).toEqual([0, 0, 2])
    expect(await consume(10, 0.5, NOW + 1_000, 10)).toEqual([0, 1, 18])
  })

  it('a clock behind takes no tokens away, and gets none twice', async () => {
    await consume(10, 1, NOW, 10)
    expect(await consume(10, 1, NOW + 2_000)).toEqual([1, 1, 0])
    expect(await consume(10, 1, NOW)).toEqual([1, 0, 0])
    // If the stored time had gone back to NOW, two tokens would be refilled again.
    expect(await consume(10, 1, NOW + 2_000)).toEqual([0, 0, 1])
  })

  it('keeps tokens and time exactly, in the fields of the article', async () => {
    await consume(10, 3, NOW)
    await consume(10, 3, NOW + 123)
    const { tokens, last_refill: last, ...others } = await redis.hgetall(key)
    expect(others).toEqual({})
    expect([Number(tokens), last]).toEqual([9 + 0.369 - 1, String(NOW + 123)])
  })

  it('expires after twice the time in which an empty bucket fills, rounded up', async () => {
    const ttlOf = async (capacity: number, rate: number): Promise<number> => {
      await redis.del(key)
      await consume(capacity, rate)
      return redis.ttl(key)
    }
    // The TTL is one less if a second ends between the two calls.
    expect([19, 20]).toContain(await ttlOf(100, 10))
    expect([6, 7]).toContain(await ttlOf(10, 3))
    expect(await ttlOf(1, 1_000)).toBeLessThanOrEqual(1)
    // The TTL is 2^31 seconds, because Redis would refuse the time in which this bucket fills.
    expect(await ttlOf(2 ** 52, 1e-9)).toBeGreaterThan(2 ** 31 - 10)
    expect(await redis.ttl(key)).toBeLessThanOrEqual(2 ** 31)
  })

  it.each([
    ['capacity', 1, [0, 1, NOW, 1]],
    ['capacity', 1, [2 ** 53, 1, NOW, 1]],
    ['refill rate', 2, [1, 0, NOW, 1]],
    ['refill rate', 2, [1, 'inf', NOW, 1]],
    ['time', 3, [1, 1, 'now', 1]],
    ['cost', 4, [1, 1, NOW, -1]],
    ['cost', 4, [1, 1, NOW, 'nan']],
    ['cost', 4, [1, 1, NOW]],
  ] as const)('refuses a bad %s (ARGV[%d]) and writes nothing: %j', async (name, index, args) => {
    await expect(call(...args)).rejects.toThrow(`ERR ${name} (ARGV[${index}]) must be a number above 0 and below 2^53`)
    expect(await redis.exists(key)).toBe(0)
  })

  it('answers as DistributedRateLimiter does, for a burst and a refusal', async () => {
    const limiter = new DistributedRateLimiter(redis, { deadlineMs: 10_000 })
    const identifier = `script-test:${process.pid}:class`
    onTestFinished(async () => {
      await limiter.close()
      await redis.del(`rl:${identifier}`)
    })
    for (let request = 0; request < 5; request += 1) {
      // At a token in 1,000 s, not even a busy machine takes so long that a token is refilled.
      const [allowed, remaining, retryAfter] = await consume(4, 0.001)
      const result = await limiter.consume(identifier, 4, 0.001)
      expect([result.allowed, result.remaining]).toEqual([allowed === 1, remaining])
      expect(Math.abs(result.retryAfter - retryAfter)).toBeLessThan(60)
    }
  })
})
