import { Redis } from 'ioredis'
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest'
import type { AnyLimit } from '../../../src/algorithms/algorithm.ts'
import { concurrency, fixedWindow, slidingWindowCounter, slidingWindowLog, tokenBucket } from '../../../src/index.ts'
import { ioredis, bareRedisStore } from '../../../src/stores/redis/index.ts'
import { namedOf, packedLayout, plainLayout } from '../../../src/stores/redis/layout.ts'
import { createPacking } from '../../../src/stores/redis/packed/packing.ts'
import type { Call, Change, Store } from '../../../src/stores/store.ts'
import { heldGroup, recordOf, settlementOf } from '../../../src/testing/store-suite/held.ts'
import { draws } from '../../draws.ts'

const { redis: url } = inject('engines')
const prefix = `newer-${process.pid}:`
const packing = { keys: 64 }
const MINUTE = 60_000_000
const SETUP = {
  name: 'StoreFailure',
  kind: 'setup',
  executed: 'no',
  message: expect.stringMatching(/newer version.*update this one/) as string,
}
const FRESH = fixedWindow({ limit: 10, window: '300d' })
const LIMITS = [
  tokenBucket({ rate: '1/day', burst: 10 }),
  FRESH,
  slidingWindowCounter({ limit: 10, window: '300d' }),
  slidingWindowLog({ limit: 10, window: '300d' }),
]
/** Lengths of today's values, and others. */
const LENGTHS = draws(1, 0) === 1 ? [1, 7, 12, 13, 21, 28, 49, 61, 2_500] : [1, 13, 28, 2_500]
const LAYOUTS = [
  ['plain', (client: Redis) => bareRedisStore({ client: ioredis(client), prefix }), plainLayout(prefix)],
  [
    'packed',
    (client: Redis) => bareRedisStore({ client: ioredis(client), prefix, layout: 'packed', packing }),
    packedLayout(prefix, createPacking(prefix, packing)),
  ],
] as const

function call(key: string, limit: AnyLimit): Call {
  return { id: { scope: { text: `l:l:${limit.algorithm.tag}:` }, key }, limit, cost: 1_000_000, phase: 0 }
}

describe.skipIf(url === undefined)('a state of a newer version, whose first byte is 1', () => {
  const redis = new Redis(url ?? '', { lazyConnect: true })
  beforeAll(() => redis.connect())
  const clear = async (): Promise<void> => {
    const keys = await redis.keys(`${prefix}*`)
    if (keys.length > 0) await redis.del(keys)
  }
  afterEach(clear)
  afterAll(() => redis.quit())

  describe.each(LAYOUTS)('in the %s layout', (_, open, layout) => {
    let store: Store
    beforeAll(() => void (store = open(redis)))

    const placeOf = ({ id }: Call): { key: string; member: Buffer | undefined } => {
      const { keys, args } = layout.addressesOf([namedOf(id)])
      const [high = -1, low = -1] = args[0] === undefined ? [] : (JSON.parse(args[0]) as number[])
      if (high < 0) return { key: keys[0] as string, member: undefined }
      const member = Buffer.alloc(8)
      member.writeUInt32BE(high, 0)
      member.writeUInt32BE(low, 4)
      return { key: keys[0] as string, member }
    }
    const write = async (one: Call, value: Buffer): Promise<void> => {
      const { key, member } = placeOf(one)
      if (member === undefined) await redis.set(key, value, 'PX', 60_000)
      else await redis.hset(key, member, value)
    }
    const read = async (one: Call): Promise<Buffer | null> => {
      const { key, member } = placeOf(one)
      return member === undefined ? redis.getBuffer(key) : redis.hgetBuffer(key, member)
    }
    const left = async (one: Call): Promise<number | undefined> =>
      (await store.decide([{ calls: [one] }], { charge: false }))[0]?.calls?.[0]?.remaining

    it.each(LIMITS)('fails alone, and nothing is charged or written: $algorithm.name', async (limit) => {
      for (const length of LENGTHS) {
        for (const blocked of [false, true]) {
          await clear()
          const [newer, other, fresh] = [call('newer', limit), call('other', limit), call('fresh', FRESH)]
          const value = Buffer.from(Array.from({ length }, (__, index) => (index === 0 ? 1 : (index * 37) % 256)))
          // A block of today's form may precede it.
          const stored = blocked ? Buffer.concat([Buffer.from([0xe6, 0x44, 0, 0, 0, 0, 0]), value]) : value
          await write(newer, stored)
          await store.decide([{ calls: [other] }])
          const alone = { calls: [newer] }
          for (const charge of [true, false]) {
            const groups = [alone, { calls: [other] }, { calls: [fresh, newer, other] }, alone, alone, { calls: [newer, newer] }]
            const verdicts = await store.decide(groups, { charge })
            expect(verdicts).toMatchObject([
              { failure: SETUP },
              { outcome: 'allowed' },
              { failure: SETUP },
              { failure: SETUP },
              { failure: SETUP },
              { failure: SETUP },
            ])
            // Alike calls have a program of their own.
            expect(await store.decide([{ calls: [other] }, alone, alone], { charge })).toMatchObject([
              { outcome: 'allowed' },
              { failure: SETUP },
              { failure: SETUP },
            ])
          }
          expect(await left(other)).toBe(7)
          expect(await left(fresh)).toBe(10)
          expect(await read(fresh)).toBeNull()
          expect(await read(newer)).toEqual(stored)
        }
      }
    })

    it.each(LIMITS)('is not changed, but forgotten: $algorithm.name', async (limit) => {
      for (const length of LENGTHS) {
        await clear()
        const [newer, other] = [call('newer', limit), call('other', limit)]
        const value = Buffer.alloc(length, 3)
        value[0] = 1
        await write(newer, value)
        const changes: Change[] = [newer, other, newer].flatMap((one): Change[] => [
          { kind: 'adjust', call: one, amount: -3_000_000 },
          { kind: 'adjust', call: one, amount: 1_000_000 },
          { kind: 'adjust', call: one, amount: 1_000_000, receipt: 5 },
          { kind: 'block', id: one.id, micros: MINUTE },
          { kind: 'unblock', id: one.id },
        ])
        const results = await store.change([
          ...changes,
          { kind: 'block', id: other.id, micros: 5 },
          { kind: 'block', id: newer.id, micros: 5 },
        ])
        const failed = changes.map((change) => (change.kind === 'adjust' ? change.call.id : (change as { id: Call['id'] }).id) === newer.id)
        expect(results.map(({ failure }) => failure !== undefined)).toEqual([...failed, false, true])
        for (const { failure } of results) if (failure !== undefined) expect(failure).toMatchObject(SETUP)
        expect(await read(newer)).toEqual(value)
        expect(await left(other)).toBeLessThan(10)
        expect(await store.change([{ kind: 'reset', id: newer.id }])).toEqual([{}])
        expect(await read(newer)).toBeNull()
        expect(await left(newer)).toBe(10)
      }
    })

    it('fails holds that it is a part of, and nothing of them is changed', async () => {
      const [bucket, window, slot] = [...LIMITS.slice(0, 2), concurrency({ limit: 2, holdMs: 60_000 })].map((limit) =>
        call('held', limit),
      ) as [Call, Call, Call]
      const value = Buffer.from([1, 2, 3])
      const state = (id: Call['id']): Call => ({ ...bucket, id })
      expect(await store.decide([heldGroup([bucket, window, slot], 'a', MINUTE)])).toMatchObject([{ outcome: 'allowed' }])
      await write(state(recordOf('held', 'b')), value)
      expect(await store.decide([heldGroup([bucket], 'b', MINUTE)])).toMatchObject([{ failure: SETUP }])
      expect(await store.change([settlementOf([bucket], 'b', 0)])).toMatchObject([{ failure: SETUP }])
      expect([await left(bucket), await left(slot)]).toEqual([9, 1])
      for (const newer of [window, slot]) {
        const before = await Promise.all([bucket, window, slot, state(recordOf('held', 'a'))].map(read))
        await write(newer, value)
        const extension: Change = { kind: 'extend', id: recordOf('held', 'a'), calls: [slot, newer], holder: 'a', micros: 2 * MINUTE }
        expect(await store.change([settlementOf([bucket, window, slot], 'a', 0), extension])).toMatchObject([
          { failure: SETUP },
          { failure: SETUP },
        ])
        expect(await read(newer)).toEqual(value)
        await write(newer, before[newer === window ? 1 : 2] as Buffer)
        expect(await Promise.all([bucket, window, slot, state(recordOf('held', 'a'))].map(read))).toEqual(before)
      }
      expect(await store.change([settlementOf([bucket, window, slot], 'a', 0)])).toMatchObject([{ hold: { status: 'settled' } }])
      expect([await left(bucket), await left(window), await left(slot)]).toEqual([10, 10, 2])
      await write(slot, value)
      const changes: Change[] = [
        { kind: 'release', call: slot, holder: 'a' },
        { kind: 'adjust', call: slot, amount: 1 },
      ]
      expect(await store.change(changes)).toMatchObject([{ failure: SETUP }, { failure: SETUP }])
      expect(await read(slot)).toEqual(value)
    })
  })

  it('is not leased: its holder calls decide, which fails, and leases of other states are granted', async () => {
    const limit = tokenBucket({ rate: '1/h', burst: 100 })
    const store = bareRedisStore({ client: ioredis(redis), prefix })
    const [newer, other] = [call('newer', limit), call('other', limit)]
    const { keys } = plainLayout(prefix).addressesOf([namedOf(newer.id)])
    const value = Buffer.from([1, 2, 3])
    await redis.set(keys[0] as string, value, 'PX', 60_000)
    const leaseRequest = { want: 5_000_000, holder: 7, sequence: 1, life: MINUTE, kept: 0, returned: 0 }
    const answers = await store.lease?.([
      { ...leaseRequest, call: newer },
      { ...leaseRequest, call: other },
    ])
    expect(answers).toMatchObject([
      { granted: 0, verdict: { outcome: 'allowed', retryAfter: 0 } },
      { granted: 5_000_000, verdict: { remaining: 95 } },
    ])
    expect(await redis.getBuffer(keys[0] as string)).toEqual(value)
    expect(await store.decide([{ calls: [newer] }])).toMatchObject([{ failure: SETUP }])
  })

  it('is not swept from its hash', async () => {
    const limit = tokenBucket({ rate: '1000/s', burst: 10 })
    const store = bareRedisStore({ client: ioredis(redis), prefix, layout: 'packed', packing })
    // The hash lives as long as this one.
    await store.decide([{ calls: [call('first', FRESH)] }])
    const [hash = ''] = await redis.keys(`${prefix}*`)
    await redis.hset(hash, 'newer--8', Buffer.from([1, 2, 3]))
    let others = 0
    while ((await redis.hlen(hash)) > others - 50 && others < 2_000) await store.decide([{ calls: [call(`other${(others += 1)}`, limit)] }])
    expect(others).toBeLessThan(2_000)
    expect(await redis.hexists(hash, 'newer--8')).toBe(1)
  })
})
