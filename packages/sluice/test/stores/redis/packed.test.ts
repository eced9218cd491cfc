import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { slidingWindowLog } from '../../../src/algorithms/sliding-window-log.ts'
import { tokenBucket } from '../../../src/algorithms/token-bucket.ts'
import { ioredis, bareRedisStore } from '../../../src/stores/redis/index.ts'
import { createPacking, digesting } from '../../../src/stores/redis/packed/packing.ts'
import type { Call, Decided } from '../../../src/stores/store.ts'
import { TENS } from '../../../src/testing/limits.ts'
import { absorbed, finished, keyed } from '../../keys/half-sip-hash.ts'
import { packedState } from './packed-state.ts'
import * as verbs from '../../../src/testing/store-verbs.ts'

const { redis: url } = inject('engines')
const prefix = `packed-${process.pid}:`
const scope = { text: 'tb:' }

describe('packing', () => {
  it('digests names as a second writing of the hash does', () => {
    for (const text of ['', 'a', 'ab', 'abc', 'api:perUser:tb:ada', 'x'.repeat(231)]) {
      for (const [k0, k1] of [
        [0, 0],
        [0xdead_beef, 1],
        [0xffff_ffff, 0x8000_0000],
      ] as const) {
        const [lo, hi] = finished(absorbed(keyed(k0, k1), text))
        const digits = [k0, k1].map((half) => half.toString(16).padStart(8, '0')).join('')
        expect(digesting(digits)(text)).toEqual({ high: hi >>> 0, low: lo >>> 0 })
      }
    }
  })

  it('is another under another secret or prefix, and the same otherwise', () => {
    const names = ['a', 'b', 'c']
    const under = (secret: string, of = 'sluice:') => {
      const { hashOf, memberOf } = createPacking(of, { keys: 640, secret })
      return names.map((name) => [hashOf(name), memberOf(name)])
    }
    expect(under('one')).toEqual(under('one'))
    expect(under('one')).not.toEqual(under('two'))
    expect(under('one')).not.toEqual(under('one', 'other:'))
    expect(names.map(createPacking('', { keys: 1 }).hashOf)).toEqual([0, 0, 0])
  })

  it.each([[{ keys: 0 }], [{ keys: 1.5 }], [{ keys: Number.NaN }], [{ secret: 5 }]] as const)('refuses %j', (packing) => {
    const client = { evalsha: async () => null, eval: async () => null }
    const make = () => bareRedisStore({ client, layout: 'packed', packing: packing as never })
    expect(make).toThrow(expect.objectContaining({ code: 'INVALID_OPTIONS' }))
  })

  it('refuses a layout that there is none of, and packing without it', () => {
    const client = { evalsha: async () => null, eval: async () => null }
    expect(() => bareRedisStore({ client, layout: 'tight' as never })).toThrow('layout is "tight", expected plain or packed')
    expect(() => bareRedisStore({ client, packing: { keys: 5 } })).toThrow("packing is an option of the layout 'packed'")
  })
})

describe.skipIf(url === undefined)('the packed layout in Redis', () => {
  const redis = new Redis(url ?? '', { lazyConnect: true })
  const packing = { keys: 64 }
  const store = bareRedisStore({ client: ioredis(redis), prefix, layout: 'packed', packing })
  const hash = `${prefix}{0}`
  beforeAll(() => redis.connect())
  afterAll(async () => {
    await redis.del(hash)
    await redis.quit()
  })
  const call = (key: string, limit = tokenBucket({ rate: '10/s', burst: 10 })): Call => {
    return { id: { scope, key }, limit, cost: 1_000_000, phase: 0 }
  }
  const charge = async (...calls: Call[]): Promise<Decided> => (await verbs.decide(store, [{ calls }]))[0] as Decided

  it('keeps 64 states in one piece of memory, and no longer than the longest of them and a quarter', async () => {
    const slow = tokenBucket({ rate: '1/min', burst: 10 })
    for (let index = 0; index < 64; index += 1) expect((await charge(call(`k${index}`, slow))).outcome).toBe('allowed')
    expect(await redis.object('ENCODING', hash)).toBe('listpack')
    expect(await redis.hlen(hash)).toBe(65)
    const { at } = await charge(call('longest', tokenBucket({ rate: '1/h', burst: 1 })))
    const lives = (await redis.pexpiretime(hash)) - at / 1_000
    expect(lives).toBeGreaterThanOrEqual(3_600_000)
    expect(lives).toBeLessThanOrEqual(4_500_001)
  })

  it('sweeps states without further calls when others come', async () => {
    await redis.del(hash)
    const quick = tokenBucket({ rate: '1000/s', burst: 10 })
    const slow = tokenBucket({ rate: '1/min', burst: 10 })
    await charge(call('stays', slow))
    await verbs.block(store, [call('blocked', quick).id], 60_000_000)
    for (let index = 0; index < 60; index += 1) await charge(call(`gone${index}`, quick))
    let others = 0
    while ((await redis.hlen(hash)) > others + 3) {
      expect(others).toBeLessThan(2_000)
      await charge(call(`other${(others += 1)}`, slow))
    }
    expect((await charge(call('stays', slow))).calls).toMatchObject([{ remaining: 8 }])
    expect((await charge(call('blocked', quick))).outcome).toBe('denied')
  })

  it('replaces another type, and forgets a block with its state', async () => {
    await redis.del(hash)
    await redis.set(hash, 'something else')
    expect((await charge(call('a'))).calls).toMatchObject([{ remaining: 9 }])
    const { id } = call('a')
    await verbs.reset(store, [id])
    expect(await packedState(redis, prefix, packing, id)).toEqual({ ends: 0 })
    await verbs.block(store, [id], 60_000_000)
    await verbs.reset(store, [id])
    expect((await packedState(redis, prefix, packing, id)).ends).toBeGreaterThan(0)
    await verbs.block(store, [id], null)
    expect(await packedState(redis, prefix, packing, id)).toEqual({ ends: 0 })
  })

  it('keeps logs as strings, in one group with packed states, and offers no leases', async () => {
    const log = { id: { scope: { text: 'sl:' }, key: 'k' }, limit: slidingWindowLog({ limit: 3, window: '1m' }), cost: 1_000_000, phase: 0 }
    for (const left of [2, 1, 0]) expect((await charge(call('k', TENS.tb as never), log)).calls).toMatchObject([{}, { remaining: left }])
    expect((await charge(call('k'), log)).outcome).toBe('denied')
    expect(await redis.type(`${prefix}{0}sl:k`)).toBe('string')
    await verbs.block(store, [log.id], 60_000_000)
    await verbs.reset(store, [log.id])
    expect((await charge(log)).calls).toMatchObject([{ blockedFor: expect.any(Number), remaining: 3 }])
    await verbs.block(store, [log.id], null)
    expect(await redis.exists(`${prefix}{0}sl:k`)).toBe(0)
    expect(store.lease).toBeUndefined()
  })
})
