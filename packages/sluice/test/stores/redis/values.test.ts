import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import type { AnyLimit } from '../../../src/algorithms/algorithm.ts'
import { tokenBucket } from '../../../src/algorithms/token-bucket.ts'
import { ioredis, bareRedisStore } from '../../../src/stores/redis/index.ts'
import { NEWER_ENDS, readValue } from '../../../src/stores/redis/value.ts'
import type { Call } from '../../../src/stores/store.ts'
import { TENS } from '../../../src/testing/limits.ts'
import { seeded } from '../../../src/testing/random.ts'
import { Reference } from '../../../src/testing/reference.ts'
import { draws } from '../../draws.ts'
import { plainName } from './plain-name.ts'
import * as verbs from '../../../src/testing/store-verbs.ts'

const { redis: url } = inject('engines')
const prefix = `values-${process.pid}:`
const START = 1_763_692_800_123_456

describe.skipIf(url === undefined)('values in Redis', () => {
  const redis = new Redis(url ?? '', { lazyConnect: true })
  const store = bareRedisStore({ client: ioredis(redis), prefix })
  beforeAll(() => redis.connect())
  afterAll(async () => {
    await redis.quit()
  })
  let made = 0
  const call = (limit: AnyLimit, tokens = 1, key = `v${(made += 1)}`): Call => ({
    id: { scope: { text: `${limit.algorithm.tag}:` }, key },
    limit,
    cost: tokens * 1_000_000,
    phase: 0,
  })
  const nameOf = ({ id }: Call): string => plainName(prefix, id)

  it.each([
    ['whole tokens a second', tokenBucket({ rate: '10/s', burst: 10 }), 12],
    ['a part of a microsecond', tokenBucket({ rate: '7/s', burst: 13 }), 28],
    ['a minute', tokenBucket({ rate: '100/min', burst: 300 }), 28],
    ['a day', tokenBucket({ rate: '1/day', burst: 3 }), 28],
    ['a month', tokenBucket({ rate: '1/30d', burst: 3 }), 49],
  ])('a bucket of %s takes %#', async (_, limit, bytes) => {
    const only = call(limit, 1)
    await verbs.decide(store, [{ calls: [only] }], { now: START })
    const value = await redis.getBuffer(nameOf(only))
    expect(value).toHaveLength(bytes)
    const reference = new Reference()
    reference.decide({ calls: [only] }, START)
    expect(readValue(value)).toEqual({ ends: 0, tag: 'tb', numbers: [...reference.states.values()][0]?.numbers })
  })

  it.each([
    ['1,200 keys', 1_200, 1],
    ['300 calls of a key', 1, 300],
    ['2 calls of each of 700 keys', 700, 2],
  ])('answers %s at once, whatever the numbers of the reply take', async (_, keys, times) => {
    const calls = Array.from({ length: keys }, () => call(tokenBucket({ rate: '1/h', burst: times }), 1))
    const limit = (calls[0] as Call).limit
    const groups = Array.from({ length: times }, () => calls.map((one) => ({ calls: [{ ...one, limit }] }))).flat()
    const allowed = await verbs.decide(store, groups)
    expect(allowed.map(({ calls: [one] }) => one?.remaining)).toEqual(groups.map((_one, index) => times - 1 - Math.floor(index / keys)))
    const denied = await verbs.decide(store, groups.slice(0, keys))
    expect(denied.every(({ outcome }) => outcome === 'denied')).toBe(true)
  })

  it.each(['hash', 'list', 'set', 'zset', 'stream'])('replaces a %s, and ignores it', async (type) => {
    for (const limit of Object.values(TENS)) {
      for (const verb of ['decide', 'peek', 'adjust', 'block', 'reset'] as const) {
        const only = call(limit, 4)
        const key = nameOf(only)
        if (type === 'hash') await redis.hset(key, { tokens: '3' })
        if (type === 'list') await redis.rpush(key, '3')
        if (type === 'set') await redis.sadd(key, '3')
        if (type === 'zset') await redis.zadd(key, 3, '3')
        if (type === 'stream') await redis.xadd(key, '*', 'tokens', '3')
        const ids = [only.id]
        if (verb === 'adjust') await verbs.adjust(store, [only], [-4_000_000])
        else if (verb === 'block') await verbs.block(store, ids, null)
        else if (verb === 'reset') await verbs.reset(store, ids)
        else
          expect(await (verb === 'peek' ? verbs.peek : verbs.decide)(store, [{ calls: [only] }])).toMatchObject([
            { outcome: 'allowed', calls: [{ remaining: verb === 'peek' ? 10 : 6 }] },
          ])
        const expected = verb === 'decide' || verb === 'adjust' ? 'string' : verb === 'reset' ? 'none' : type
        expect(await redis.type(key)).toBe(expected)
        await redis.del(key)
      }
    }
  })

  it('replaces what is not a value, of whatever bytes', async () => {
    const random = seeded(20_261_121)
    const kinds = [0x01, 0x02, 0x60, 0x7f, 0x80, 0x86, 0xa0, 0xc0, 0xe0, 0xe6, 0xff]
    for (let index = 0; index < draws(3_000, 125); index += 1) {
      const limit = Object.values(TENS)[index % 4] as AnyLimit
      const only = call(limit)
      const lengths = [0, 1, 6, 7, 8, 12, 19, 21, 28, 35, 47, 49, 56, 61, 75, 89, 1_000]
      const value = Buffer.from(
        Array.from({ length: lengths[Math.floor(random() * lengths.length)] as number }, () => Math.floor(random() * 256)),
      )
      if (value.length > 0 && random() < 0.9) value[0] = kinds[Math.floor(random() * kinds.length)] as number
      await redis.set(nameOf(only), value, 'PX', 60_000)
      const { ends, tag } = readValue(value)
      if (ends === NEWER_ENDS) {
        expect(await store.decide([{ calls: [only] }])).toMatchObject([{ failure: { kind: 'setup' } }])
        await redis.del(nameOf(only))
        continue
      }
      // Random bytes may look exactly like a state or a block. Then the store may decide by them.
      const found = tag === limit.algorithm.tag || ends > 0
      const [verdict] = await verbs.decide(store, [{ calls: [only] }]).catch((error: unknown) => (found ? [] : Promise.reject(error)))
      if (!found) expect(verdict).toMatchObject({ outcome: 'allowed', calls: [{ remaining: 9 }] })
      await verbs.adjust(store, [only], [-1_000_000])
      await verbs.block(store, [only.id], 1_000_000)
      await verbs.reset(store, [only.id])
      await verbs.block(store, [only.id], null)
      expect(await redis.exists(nameOf(only))).toBe(0)
    }
  })
})
