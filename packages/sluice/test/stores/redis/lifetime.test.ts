import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import type { AlgorithmTag, AnyLimit } from '../../../src/algorithms/algorithm.ts'
import { fixedWindow } from '../../../src/algorithms/fixed-window.ts'
import { slidingWindowCounter } from '../../../src/algorithms/sliding-window-counter.ts'
import { slidingWindowLog } from '../../../src/algorithms/sliding-window-log.ts'
import { tokenBucket } from '../../../src/algorithms/token-bucket.ts'
import { ioredis, bareRedisStore } from '../../../src/stores/redis/index.ts'
import { systemTime } from '../../../src/time/system.ts'
import type { Decided } from '../../../src/stores/store.ts'
import * as verbs from '../../../src/testing/store-verbs.ts'

const { redis: url } = inject('engines')
const prefix = `lifetime-${process.pid}:`

describe.skipIf(url === undefined)('law 6 on the clock of Redis', () => {
  const redis = new Redis(url ?? '', { lazyConnect: true })
  const store = bareRedisStore({ client: ioredis(redis), prefix })
  beforeAll(() => redis.connect())
  afterAll(async () => {
    await redis.quit()
  })
  const charge = async (key: string, limit: AnyLimit): Promise<{ at: number; lifeMs: number }> => {
    const [verdict] = await verbs.decide(store, [{ calls: [{ id: { scope: { text: '' }, key }, limit, cost: 1_000_000, phase: 0 }] }])
    const { outcome, at, calls } = verdict as Decided
    expect(outcome).toBe('allowed')
    return { at, lifeMs: Math.ceil((calls[0]?.resetAfter as number) / 1_000) }
  }
  const serverTime = async (): Promise<number> => {
    const [seconds = 0, micros = 0] = (await redis.time()).map(Number)
    return seconds * 1_000_000 + micros
  }

  it.each([
    ['10/s', 10, 100],
    ['3/s', 1, 334],
    ['1/day', 1, 86_400_000],
    ['1000/s', 5, 1],
  ])('a charge of %s, burst %d, lives %d ms', async (rate, burst, expected) => {
    const key = `${rate}:${burst}`.replaceAll('/', '-')
    const started = systemTime.monotonic()
    const { lifeMs } = await charge(key, tokenBucket({ rate, burst }))
    expect(lifeMs).toBe(expected)
    const left = await redis.pttl(prefix + key)
    const passed = Math.ceil(systemTime.monotonic() - started)
    expect(left).toBeLessThanOrEqual(lifeMs + 1)
    // -2: gone, which is right once the whole life has passed.
    expect(left === -2 ? 0 : left).toBeGreaterThanOrEqual(Math.max(0, lifeMs - passed))
    await redis.del(prefix + key)
  })

  it.each([
    ['fixed window', fixedWindow({ limit: 5, window: '7s', align: 'first' })],
    ['sliding window counter', slidingWindowCounter({ limit: 5, window: '7s' })],
    ['sliding window log', slidingWindowLog({ limit: 5, window: '7s' })],
    ['token bucket of an earlier plan', tokenBucket({ rate: '10/s', burst: 10 })],
  ])('a %s lives as long as it says, or as its block does', async (key, limit) => {
    const name = key.replaceAll(' ', '-')
    const id = { scope: { text: '' }, key: name }
    const lives = async (micros: number): Promise<void> => {
      const left = (await redis.pexpiretime(prefix + name)) * 1_000
      // A key must not expire in the millisecond in which its state is still needed: a server deletes at once what expires in the present
      // millisecond.
      expect(left).toBeGreaterThan(micros)
      expect(left).toBeLessThanOrEqual(micros + 1_000)
    }
    const call = { id, limit, cost: 1_000_000, phase: 0 }
    if (limit.algorithm.tag === 'tb') await verbs.decide(store, [{ calls: [{ ...call, limit: tokenBucket({ rate: '1/s', burst: 9 }) }] }])
    const [verdict] = await verbs.decide(store, [{ calls: [call] }])
    const { at, calls } = verdict as Decided
    // A bucket that had two limits is kept until it would have been full under the slower one (law 7).
    const reset = at + (calls[0]?.resetAfter as number)
    // If a fifth of a fixed window was used, the window is remembered for a quarter of its length after its end.
    const kept: Partial<Record<AlgorithmTag, number>> = { tb: at + 9_000_000, fw: reset + 1_750_000 }
    const expires = kept[limit.algorithm.tag] ?? reset
    await lives(expires)
    await verbs.block(store, [id], 60_000_000)
    const [blocked] = await verbs.peek(store, [{ calls: [call] }])
    const ends = (blocked as Decided).at + ((blocked as Decided).calls[0]?.retryAfter as number)
    await lives(ends)
    await verbs.block(store, [id], null)
    await lives(expires)
    await verbs.block(store, [id], 1)
    await lives(expires)
    await verbs.block(store, [id], 60_000_000)
    const [again] = await verbs.peek(store, [{ calls: [call] }])
    await verbs.reset(store, [id])
    await lives((again as Decided).at + ((again as Decided).calls[0]?.retryAfter as number))
    await verbs.block(store, [id], null)
    expect(await redis.exists(prefix + name)).toBe(0)
  })

  it.each(['plain', 'packed'] as const)('a state that is needed for less than a millisecond is there until then, %s', async (layout) => {
    const own = bareRedisStore({ client: ioredis(redis), prefix: `${prefix}${layout}:`, layout })
    const limit = tokenBucket({ rate: '2000/s', burst: 1 })
    const REFILL = 500
    for (let turn = 0; turn < 200; turn += 1) {
      const call = { id: { scope: { text: '' }, key: `k${turn}` }, limit, cost: 1_000_000, phase: 0 }
      // Two program calls, one right after the other.
      const [[first], [second]] = (await Promise.all([0, 1].map(() => verbs.decide(own, [{ calls: [call] }])))) as [[Decided], [Decided]]
      if (second.outcome === 'allowed') expect(second.at - first.at).toBeGreaterThanOrEqual(REFILL)
    }
  })

  it('a state is gone when its life has passed', async () => {
    const { at, lifeMs } = await charge('short', tokenBucket({ rate: '50/s', burst: 5 }))
    expect(lifeMs).toBe(20)
    // Redis counts whole milliseconds. A key expires in the millisecond after the last one in which it is needed, and lives through that
    // one too.
    const end = at + (lifeMs + 2) * 1_000
    while ((await serverTime()) < end);
    expect(await redis.exists(`${prefix}short`)).toBe(0)
  })
})
