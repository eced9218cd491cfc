import { describe, expect, it, onTestFinished } from 'vitest'
import { createLimiter, fixedWindow } from '../../src/index.ts'
import { ioredis, redisStore } from '../../src/redis.ts'
import { advised, noRedis, privateRedis } from './private-redis.ts'
import { report } from './stopped.ts'

const DENIED = 10_000
/** Refunds at once. */
const SIZE = 50
const BATCHES = 200
const WARM_UP = 40

/** Other programs on the machine may disturb a measurement. So a test that misses its bound is repeated once. */
const AGAIN = { retry: 1 }

describe.skipIf(noRedis)('R8: refunds with 10,000 remembered denials', AGAIN, () => {
  it('are nine tenths as fast as without, or faster', async () => {
    const server = await privateRedis()
    onTestFinished(server.stop)
    const opened = async (): Promise<ReturnType<typeof createLimiter>> => {
      const client = advised(server.port)
      onTestFinished(() => client.disconnect())
      await new Promise((resolve) => client.once('ready', resolve))
      // All are still remembered when the last refund is made. By default they would be for a second.
      const store = redisStore({ client: ioredis(client), ring: { denials: { maxDeniedMs: 60_000 } } })
      await store.ready()
      return createLimiter({ limit: fixedWindow({ limit: 1, window: '300d' }), store, deadlineMs: 10_000 })
    }
    const [without, withDenials] = [await opened(), await opened()]
    const keys = Array.from({ length: DENIED }, (_, index) => ({ key: `denied-${index}` }))
    for (const outcome of ['allowed', 'denied']) {
      const decisions = await withDenials.checkMany(keys)
      expect(new Set(decisions.map((decision) => decision.outcome))).toEqual(new Set([outcome]))
    }
    const remembered = await withDenials.check(`denied-${DENIED - 1}`)
    expect([remembered.outcome, remembered.source]).toEqual(['denied', 'denied-cache'])

    const times = new Map([without, withDenials].map((limiter) => [limiter, [] as number[]]))
    // The two take turns, and the quickest tenth of each one's batches counts. So other work of the machine disturbs both alike.
    for (let batch = 0; batch < WARM_UP + BATCHES; batch += 1) {
      for (const [limiter, took] of batch % 2 === 0 ? [...times] : [...times].toReversed()) {
        const started = performance.now()
        await Promise.all(Array.from({ length: SIZE }, (_, index) => limiter.refund(`other-${(batch % 40) * SIZE + index}`)))
        if (batch >= WARM_UP) took.push(performance.now() - started)
      }
    }
    const perSecond = (took: readonly number[]): number => {
      const quickest = took.toSorted((one, other) => one - other).slice(0, BATCHES / 10)
      return (quickest.length * SIZE * 1_000) / quickest.reduce((sum, ms) => sum + ms)
    }
    const [alone, full] = [...times.values()].map(perSecond) as [number, number]
    report('refunds per second', { without: alone, withDenials: full, ratio: full / alone })
    expect(full).toBeGreaterThanOrEqual(0.9 * alone)
  })
})
