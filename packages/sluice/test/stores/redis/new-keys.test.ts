import { Redis } from 'ioredis'
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest'
import type { AnyLimit } from '../../../src/algorithms/algorithm.ts'
import { tokenBucket } from '../../../src/algorithms/token-bucket.ts'
import { ioredis, bareRedisStore, type BareRedisOptions } from '../../../src/stores/redis/index.ts'
import { FULL } from '../../../src/stores/redis/packed/new-keys.ts'
import type { Call, GroupVerdict, Store } from '../../../src/stores/store.ts'
import { TENS } from '../../../src/testing/limits.ts'
import { heldGroup } from '../../../src/testing/store-suite/held.ts'
import { manualClock } from '../../../src/time/manual.ts'
import { plainName } from './plain-name.ts'
import * as verbs from '../../../src/testing/store-verbs.ts'

const { redis: url } = inject('engines')
const prefix = `new-keys-${process.pid}:`
const SLOW = tokenBucket({ rate: '1/h', burst: 3 })
const GLOBAL = tokenBucket({ rate: '1/h', burst: 100 })

describe('maxNewKeys', () => {
  it.each([[{ maxNewKeys: 0 }], [{ maxNewKeys: 1.5 }], [{ onFull: 'share' }]] as const)('refuses %j', (options) => {
    const client = { evalsha: async () => null, eval: async () => null }
    expect(() => bareRedisStore({ client, ...(options as object) })).toThrow(expect.objectContaining({ code: 'INVALID_OPTIONS' }))
  })
})

describe.skipIf(url === undefined)('new keys in Redis', () => {
  const redis = new Redis(url ?? '', { lazyConnect: true })
  beforeAll(() => redis.connect())
  afterEach(async () => {
    const keys = await redis.keys(`${prefix}*`)
    if (keys.length > 0) await redis.del(keys)
  })
  afterAll(async () => {
    await redis.quit()
  })
  const open = (options: Partial<BareRedisOptions> = {}): { store: Store; clock: ReturnType<typeof manualClock> } => {
    const clock = manualClock()
    return { clock, store: bareRedisStore({ client: ioredis(redis), prefix, clock, maxNewKeys: 5, ...options }) }
  }
  const call = (key: string, limit: AnyLimit = SLOW, scope: string = limit.algorithm.tag): Call => {
    return { id: { scope: { text: `${scope}:` }, key }, limit, cost: 1_000_000, phase: 0 }
  }
  const one = async (store: Store, ...calls: Call[]): Promise<GroupVerdict> => (await store.decide([{ calls }]))[0] as GroupVerdict
  const count = async (): Promise<number> => (await redis.keys(`${prefix}*`)).length

  it.each(Object.values(TENS))('are refused beyond so many a second, and nothing is written of them: $algorithm.name', async (limit) => {
    const slow = { ...limit }
    const { store, clock } = open({ onFull: 'deny' })
    for (let index = 0; index < 5; index += 1) expect((await one(store, call(`k${index}`, slow))).outcome).toBe('allowed')
    const refused = await one(store, call('k5', slow))
    expect(refused).toEqual({ failure: FULL, onFull: 'deny' })
    expect(FULL).toMatchObject({ kind: 'memory', executed: 'no' })
    expect(await redis.exists(plainName(prefix, call('k5', slow).id))).toBe(0)
    clock.advance(200)
    expect((await one(store, call('k6', slow))).outcome).toBe('allowed')
    expect(await one(store, call('k7', slow))).toEqual({ failure: FULL, onFull: 'deny' })
  })

  it('are bounded for each scope by itself, and keys that are there go on', async () => {
    const { store } = open()
    for (let index = 0; index < 5; index += 1) await one(store, call(`k${index}`))
    expect(await one(store, call('other', GLOBAL, 'global'))).toMatchObject({ outcome: 'allowed' })
    expect(await one(store, call('k0'))).toMatchObject({ outcome: 'allowed', calls: [{ remaining: 1 }] })
    expect(await one(store, call('k0'))).toMatchObject({ outcome: 'allowed', calls: [{ remaining: 0 }] })
    expect(await one(store, call('k0'))).toMatchObject({ outcome: 'denied' })
    expect(await one(store, call('new'))).toEqual({ failure: FULL })
    expect(await store.decide([{ calls: [call('new')] }, { calls: [call('k1')] }], { charge: false })).toMatchObject([
      { failure: FULL },
      { outcome: 'allowed' },
    ])
  })

  it('take nothing from the other limits of their group, and do not hide what denies or is impossible', async () => {
    const { store } = open({ onFull: 'allow' })
    const wide = call('all', GLOBAL, 'global')
    for (let index = 0; index < 5; index += 1) await one(store, wide, call(`k${index}`))
    expect(await one(store, wide, call('new'))).toEqual({ failure: FULL, onFull: 'allow' })
    expect(await one(store, wide)).toMatchObject({ calls: [{ remaining: 94 }] })
    await verbs.decide(store, [{ calls: [{ ...wide, cost: 94_000_000 }] }])
    expect(await one(store, wide, call('new'))).toMatchObject({ outcome: 'denied' })
    expect(await one(store, { ...call('new'), cost: 4_000_000 })).toMatchObject({ outcome: 'impossible' })
    expect(await count()).toBe(6)
  })

  it.each(Object.values(TENS))('are not made by holds either, whose records are not counted: $algorithm.name', async (limit) => {
    const { store } = open()
    const hold = async (key: string, id: string) => (await store.decide([heldGroup([call(key, limit)], id, 60_000_000)]))[0]
    for (let index = 0; index < 5; index += 1) expect(await hold(`k${index}`, 'h')).toMatchObject({ outcome: 'allowed' })
    expect(await hold('k5', 'h')).toEqual({ failure: FULL })
    expect(await count()).toBe(10)
    expect(await hold('k0', 'again')).toMatchObject({ outcome: 'allowed' })
    expect(await count()).toBe(11)
  })

  it('are counted in batches, where calls under way may pass the bound and are made up for', async () => {
    const { store, clock } = open()
    const groups = (name: string, size: number) => Array.from({ length: size }, (_, index) => ({ calls: [call(`${name}${index}`)] }))
    expect((await verbs.decide(store, groups('a', 20))).every(({ outcome }) => outcome === 'allowed')).toBe(true)
    clock.advance(1_000)
    expect(await store.decide(groups('b', 3))).toEqual([{ failure: FULL }, { failure: FULL }, { failure: FULL }])
    const twice = await store.decide([...groups('c', 1), ...groups('c', 1), ...groups('a', 1)])
    expect(twice).toMatchObject([{ failure: FULL }, { failure: FULL }, { outcome: 'allowed' }])
    clock.advance(2_200)
    expect((await one(store, call('d'))).outcome).toBe('allowed')
    expect(await count()).toBe(21)
  })

  it('share states that start empty, where configured', async () => {
    const { store } = open({ onFull: 'shared' })
    const quick = tokenBucket({ rate: '50/s', burst: 3 })
    const wide = call('all', GLOBAL, 'global')
    const slow = Array.from({ length: 5 }, (_, index) => ({ calls: [wide, call(`k${index}`)] }))
    await verbs.decide(store, slow)
    const denied = await one(store, wide, call('new'))
    expect(denied).toMatchObject({ outcome: 'denied', reason: 'overflow', degraded: FULL })
    expect(denied.calls).toMatchObject([
      { outcome: 'allowed', remaining: 95 },
      { outcome: 'denied', remaining: 0 },
    ])
    for (let index = 0; index < 5; index += 1) await one(store, call(`q${index}`, quick, 'quick'))
    const start = 1_763_692_800_000_000
    const decide = async (now: number) => (await verbs.decide(store, [{ calls: [wide, call('q9', quick, 'quick')] }], { now }))[0]
    expect(await decide(start)).toMatchObject({ outcome: 'denied' })
    const passed = await decide(start + 20_000)
    expect(passed).toMatchObject({ outcome: 'allowed', degraded: { kind: 'memory' } })
    expect(passed).not.toHaveProperty('reason')
    expect(await redis.exists(plainName(prefix, call('q9', quick, 'quick').id))).toBe(0)
    for (let index = 0; index < 5; index += 1) await one(store, call(`l${index}`, TENS.sl))
    expect(await one(store, call('l9', TENS.sl))).toEqual({ failure: FULL, onFull: 'deny' })
  })

  it('are bounded in the packed layout too', async () => {
    const { store } = open({ layout: 'packed' })
    for (let index = 0; index < 5; index += 1) await one(store, call(`k${index}`))
    expect(await one(store, call('new'))).toEqual({ failure: FULL })
    expect((await one(store, call('k0'))).outcome).toBe('allowed')
  })
})
