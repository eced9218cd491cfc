import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { type Store, tokenBucket } from '../../src/index.ts'
import { ioredis, bareRedisStore } from '../../src/stores/redis/index.ts'
import type { CallGroup } from '../../src/stores/store.ts'
import { audit, type TraceEntry } from '../../src/testing.ts'
import * as verbs from '../../src/testing/store-verbs.ts'
import { draws } from '../draws.ts'

/**
 * The numbers of the article Benchmarking Token Bucket Rate Limiters: burst 10, rate 10/s, 64 callers on one key. At most 40 calls pass in
 * three seconds.
 */
const { redis: url } = inject('engines')
const prefix = `benchmarking-${process.pid}:`
const limit = tokenBucket({ rate: '10/s', burst: 10 })
const START = 1_763_692_800_000_000
const CALLERS = 64

describe.skipIf(url === undefined)('one key called by 64 callers', () => {
  const client = new Redis(url ?? '', { lazyConnect: true })
  const store: Store = bareRedisStore({ client: ioredis(client), prefix })
  beforeAll(() => client.connect())
  afterAll(async () => void (await client.quit()))

  const groupOf = (key: string): CallGroup => ({
    calls: [{ id: { scope: { text: 'benchmarking:tb:' }, key }, limit, cost: 1e6, phase: 0 }],
  })

  it('admits exactly 40 in three seconds, and never more in any part of them', async () => {
    const trace: TraceEntry[] = []
    const groups = [groupOf('hot')]
    // All callers call at once, every 10 ms or 50 ms of the store's time. The first calls are at the start and the last ones exactly three
    // seconds later.
    for (let at = START; at <= START + 3_000_000; at += draws(10_000, 50_000)) {
      const verdicts = await Promise.all(Array.from({ length: CALLERS }, () => verbs.decide(store, groups, { now: at })))
      for (const [verdict] of verdicts) trace.push({ at, cost: 1, allowed: verdict?.outcome === 'allowed' })
    }
    expect(trace.filter(({ allowed }) => allowed)).toHaveLength(40)
    expect(audit(trace, limit).overGrant).toBe(0)
  })

  it('believes no clock that went back, whichever caller has it', async () => {
    const groups = [groupOf('regression')]
    let passed = 0
    for (let step = 0; step < 300; step += 1) {
      // The clock of one caller in three is 100 ms behind, and that of another 200 ms.
      const at = START + step * 10_000 - (step % 3) * 100_000
      const [verdict] = await verbs.decide(store, groups, { now: at })
      if (verdict?.outcome === 'allowed') passed += 1
    }
    // The latest instant believed is 2.97 s after the first.
    expect(passed).toBe(10 + 29)
  })

  it('keeps what it needs and no longer: the time to live is what is left until the bucket is full', async () => {
    const slow = tokenBucket({ rate: '1/h', burst: 10 })
    await verbs.decide(store, [{ calls: [{ id: { scope: { text: 'benchmarking:tb:' }, key: 'idle' }, limit: slow, cost: 1e6, phase: 0 }] }])
    const [key] = await client.keys(`${prefix}*idle*`)
    const left = await client.pttl(key as string)
    // The bucket refills in an hour, and its key stays a millisecond longer. The machine may have slept between the two calls, so less may
    // be left.
    expect(left).toBeLessThanOrEqual(3_600_001)
    expect(left).toBeGreaterThan(3_000_000)
  })
})
