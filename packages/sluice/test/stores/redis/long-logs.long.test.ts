import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import type { AnyLimit } from '../../../src/algorithms/algorithm.ts'
import { slidingWindowLog } from '../../../src/algorithms/sliding-window-log.ts'
import { ioredis, bareRedisStore } from '../../../src/stores/redis/index.ts'
import { readValue } from '../../../src/stores/redis/value.ts'
import type { Call } from '../../../src/stores/store.ts'
import { seeded } from '../../../src/testing/random.ts'
import { Reference } from '../../../src/testing/reference.ts'
import { draws } from '../../draws.ts'
import { plainName } from './plain-name.ts'
import * as verbs from '../../../src/testing/store-verbs.ts'

const { redis: url } = inject('engines')
const prefix = `logs-${process.pid}:`
const START = 1_763_692_800_123_456

describe.skipIf(url === undefined)('long logs in Redis', () => {
  const redis = new Redis(url ?? '', { lazyConnect: true })
  const store = bareRedisStore({ client: ioredis(redis), prefix })
  beforeAll(() => redis.connect())
  afterAll(async () => {
    await redis.quit()
  })

  it('decide and keep what the kernel does, over many pages, with changes, refunds and blocks', async () => {
    const random = seeded(7)
    const limits = [slidingWindowLog({ limit: 400, window: '1s' }), slidingWindowLog({ limit: 700, window: '3s' })]
    const id = { scope: { text: 'sl:' }, key: 'long' }
    const reference = new Reference()
    const name = plainName(prefix, id)
    let now = START
    let longest = 0
    let limit = limits[0] as AnyLimit
    for (let step = 0; step < draws(1_500, 1_000); step += 1) {
      now += Math.floor(random() * (random() < 0.02 ? 2_000_000 : 9_000)) - (random() < 0.05 ? 5_000 : 0)
      if (random() < 0.004) limit = limits[Math.floor(random() * 2)] as AnyLimit
      const calls: Call[] = Array.from({ length: 1 + Math.floor(random() * 3) }, () => {
        return { id, limit, cost: 100_000 + Math.floor(random() * 2_000_000), phase: 0 }
      })
      const groups = random() < 0.5 ? [{ calls }] : calls.map((call) => ({ calls: [call] }))
      const expected = groups.map((group) => reference.decide(group, now))
      expect(await verbs.decide(store, groups, { now })).toEqual(expected)
      if (random() < 0.05) {
        const options = random() < 0.5 ? { now } : { now, receipt: now - Math.floor(random() * 500_000) }
        const amount = (random() < 0.3 ? -1 : 1) * (1 + Math.floor(random() * 5_000_000))
        await verbs.adjust(store, calls.slice(0, 1), [amount], options)
        reference.adjust(calls.slice(0, 1), [amount], options)
      }
      if (random() < 0.01) {
        await verbs.block(store, [id], 10_000, { now })
        reference.block(id, now + 10_000)
      }
      const value = await redis.getBuffer(name)
      longest = Math.max(longest, value?.length ?? 0)
      expect(readValue(value).numbers).toEqual([...reference.states.values()][0]?.numbers)
    }
    // The value had more than three pages of 64 entries. It never had more than twice the entries that are kept.
    expect(longest).toBeGreaterThan(47 + 3 * 64 * 14)
    expect(longest).toBeLessThan(47 + 2 * 701 * 14)
    expect(await redis.pttl(name)).toBeGreaterThan(0)
  })
})
