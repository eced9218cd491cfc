import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { tokenBucket } from '../../../src/algorithms/token-bucket.ts'
import { stateName } from '../../../src/keys/encode.ts'
import { ioredis, redisStore } from '../../../src/stores/redis/index.ts'
import { readValue } from '../../../src/stores/redis/value.ts'
import { inFirstFormat } from './first-format.ts'

const { redis: url } = inject('engines')
const prefix = `impossible-${process.pid}:`
const START = 1_763_692_800_123_456
const limit = tokenBucket({ rate: '10/s', burst: 10 })

interface Bucket {
  readonly zero?: number
  readonly rest?: number
  readonly age?: number
  readonly hold?: number
  readonly n?: number
  readonly m?: number
  readonly burst?: number
}

/** In the first format, which has room for every number: an empty bucket of another plan, but for what is given. */
function value({ zero = START, rest = 0, age = 0, hold = 0, n = 7, m = 3, burst = 5_000_000 }: Bucket): Buffer {
  return inFirstFormat(zero, rest, age, hold, n, m, burst)
}

describe.skipIf(url === undefined)('X7: a bucket that no plan can have left', () => {
  const redis = new Redis(url ?? '', { lazyConnect: true })
  const store = redisStore({ client: ioredis(redis), prefix })
  beforeAll(() => redis.connect())
  afterAll(async () => {
    await redis.quit()
  })
  let made = 0
  const placed = async (bucket: Bucket) => {
    const id = { scope: { text: 'tb:' }, key: `k${(made += 1)}` }
    await redis.set(prefix + stateName(id), value(bucket), 'PX', 60_000)
    return { id, limit, cost: 1_000_000, phase: 0 }
  }

  it('one that a plan can have left goes on', async () => {
    const call = await placed({})
    expect(await store.consume([{ calls: [call] }], { now: START })).toMatchObject([{ outcome: 'denied' }])
  })

  it.each<Bucket>([
    { n: 0 },
    { m: 0 },
    { burst: 0 },
    { rest: 7 },
    { rest: 8 },
    { n: 0, m: 0 },
    { n: 0, hold: 3_600_000_000 },
    { m: 0, hold: 3_600_000_000 },
    { burst: 0, hold: 3_600_000_000 },
    { m: 0, burst: 0 },
    { m: 9_007_199_255 },
    { n: 2 ** 40, burst: 2 ** 40 * 1_000_000 },
    { n: 1, m: 9_007_199_254, burst: 1_000_000 },
    { zero: 2 ** 53 + 2 },
    { age: 2 ** 53 },
  ])('%j is not a state: the key is fresh', async (bucket) => {
    const call = await placed(bucket)
    expect(await store.peek([{ calls: [call] }], { now: START })).toMatchObject([{ outcome: 'allowed', calls: [{ remaining: 10 }] }])
    expect(await store.consume([{ calls: [call] }], { now: START })).toMatchObject([{ outcome: 'allowed', calls: [{ remaining: 9 }] }])
    const other = await placed(bucket)
    await store.adjust?.([other], [-4_000_000], { now: START })
    expect(await store.peek([{ calls: [other] }], { now: START })).toMatchObject([{ calls: [{ remaining: 6 }] }])
    expect(readValue(await redis.getBuffer(prefix + stateName(other.id))).tag).toBe('tb')
  })
})
