import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import type { AnyLimit } from '../../../src/algorithms/algorithm.ts'
import { tokenBucket } from '../../../src/algorithms/token-bucket.ts'
import { ioredis, bareRedisStore } from '../../../src/stores/redis/index.ts'
import { readValue } from '../../../src/stores/redis/value.ts'
import type { Call, Decided } from '../../../src/stores/store.ts'
import { LIMITS } from '../../../src/testing/limits.ts'
import { seeded } from '../../../src/testing/random.ts'
import { Reference } from '../../../src/testing/reference.ts'
import { draws } from '../../draws.ts'
import { plainName } from './plain-name.ts'
import * as verbs from '../../../src/testing/store-verbs.ts'

const { redis: url } = inject('engines')
const prefix = `own-clock-${process.pid}:`

describe.skipIf(url === undefined)('Redis on its own clock', () => {
  const redis = new Redis(url ?? '', { lazyConnect: true })
  const store = bareRedisStore({ client: ioredis(redis), prefix })
  beforeAll(() => redis.connect())
  afterAll(async () => {
    await redis.quit()
  })

  it('decides calls that are alike as the kernel does, over changed limits, penalties and blocks', async () => {
    const random = seeded(11)
    const buckets = [...LIMITS.filter(({ algorithm }) => algorithm.tag === 'tb'), tokenBucket({ rate: '2000/s', burst: 40 })]
    const reference = new Reference()
    for (let step = 0; step < draws(2_500, 250); step += 1) {
      const limit = buckets[Math.floor(random() * buckets.length)] as AnyLimit
      const cost = Math.max(1, Math.round((random() < 0.5 ? 1 : random() * 1.2 * limit.capacity) * 1_000_000))
      const groups = Array.from({ length: 1 + Math.floor(random() * 12) }, () => {
        const key = `k${Math.floor(random() * 6)}`
        const call: Call = { id: { scope: { text: 'tb:' }, key }, limit, cost, phase: 0 }
        return { calls: [call] }
      })
      const verdicts = await verbs.decide(store, groups)
      const now = (verdicts[0] as Decided).at
      expect(verdicts.map(({ outcome, at, calls, retryAfter }) => ({ outcome, at, calls, retryAfter }))).toEqual(
        groups.map((group) => reference.decide(group, now)),
      )
      for (const { id, numbers } of reference.states.values()) {
        // Redis forgets an expired state (law 6), and the reference keeps it. Both must decide in the same way.
        const value = await redis.getBuffer(plainName(prefix, id))
        if (value !== null) expect(readValue(value).numbers).toEqual(numbers)
      }
      const [first] = groups.flatMap(({ calls }) => calls)
      if (first === undefined || random() > 0.1) continue
      const given = { now }
      await verbs.adjust(store, [first], [-cost], given)
      reference.adjust([first], [-cost], given)
      if (random() < 0.3) {
        await verbs.block(store, [first.id], 3_000, given)
        reference.block(first.id, now + 3_000)
      }
    }
  })
})
