import { Redis } from 'ioredis'
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest'
import type { AnyLimit } from '../../../src/algorithms/algorithm.ts'
import { createLimiter, fixedWindow, slidingWindowCounter, slidingWindowLog, tokenBucket } from '../../../src/index.ts'
import { ioredis, bareRedisStore, type BareRedisOptions } from '../../../src/stores/redis/index.ts'
import type { Call, Decided, LeaseAnswer, Store } from '../../../src/stores/store.ts'
import { manualClock } from '../../../src/time/manual.ts'
import * as verbs from '../../../src/testing/store-verbs.ts'
import { draws } from '../../draws.ts'

const { redis: url } = inject('engines')
const prefix = `kept-${process.pid}:`
const USERS = 50
const TEN_MINUTES = 600_000
/** Limits whose states equal the initial state a moment after each call. Without `maxNewKeys`, no state would be left at the next call. */
const QUICK: readonly AnyLimit[] = [
  tokenBucket({ rate: '1000000/s', burst: 20 }),
  tokenBucket({ rate: '999999.5/s', burst: 20 }),
  fixedWindow({ limit: 20, window: '1ms', align: 'first' }),
  slidingWindowCounter({ limit: 20, window: '1ms' }),
  slidingWindowLog({ limit: 20, window: '1ms' }),
]
const LAYOUTS: readonly (readonly [string, Partial<BareRedisOptions>])[] = [
  ['plain', {}],
  ['packed', { layout: 'packed', packing: { keys: 64 } }],
]

describe.skipIf(url === undefined)('R7: with maxNewKeys, a key that comes back is not new', () => {
  const redis = new Redis(url ?? '', { lazyConnect: true })
  beforeAll(() => redis.connect())
  const clear = async (): Promise<void> => {
    const keys = await redis.keys(`${prefix}*`)
    if (keys.length > 0) await redis.del(keys)
  }
  afterEach(clear)
  afterAll(async () => {
    await redis.quit()
  })
  /** A store that makes `maxNewKeys` keys, and then no more: its clock stands still, so this allowance does not refill. */
  const open = (options: Partial<BareRedisOptions>): Store =>
    bareRedisStore({ client: ioredis(redis), prefix, clock: manualClock(), maxNewKeys: USERS, ...options })
  const limiterOf = (limit: AnyLimit, options: Partial<BareRedisOptions>) =>
    createLimiter({ limit, store: open(options), onStoreFailure: 'deny', deadlineMs: 10_000 })
  const call = (key: string, limit: AnyLimit): Call => ({
    id: { scope: { text: `l:l:${limit.algorithm.tag}:` }, key },
    limit,
    cost: 1_000_000,
    phase: 0,
  })
  const leftOf = async (): Promise<number[]> => Promise.all((await redis.keys(`${prefix}*`)).map((key) => redis.pttl(key)))

  describe.each(LAYOUTS)('%s', (_, options) => {
    it.each(QUICK)('50 users who come again and again are never undecided: $algorithm.name', async (limit) => {
      const limiter = limiterOf(limit, options)
      const undecided: string[] = []
      for (let round = 0; round < draws(10, 4); round += 1) {
        for (let user = 0; user < USERS; user += 1) {
          const { outcome } = await limiter.check(`user${user}`)
          if (outcome === 'undecided') undecided.push(`${round}:${user}`)
        }
      }
      expect(undecided).toEqual([])
      expect(await limiter.check('a new one')).toMatchObject({ outcome: 'undecided', allowed: false })
    })

    it.each(QUICK)('states are kept ten minutes: $algorithm.name', async (limit) => {
      const limiter = limiterOf(limit, options)
      await limiter.check('one')
      await limiter.checkMany([{ key: 'two' }, { key: 'two', cost: 2 }, { key: 'three' }])
      const left = await leftOf()
      expect(left.length).toBeGreaterThan(0)
      for (const ms of left) expect(ms).toBeGreaterThan(TEN_MINUTES - 60_000)
    })

    it.each(QUICK)('also where a refund leaves nothing of the state: $algorithm.name', async (limit) => {
      const slow = [
        tokenBucket({ rate: '1/h', burst: 20 }),
        fixedWindow({ limit: 20, window: '300d' }),
        slidingWindowLog({ limit: 20, window: '300d' }),
      ]
      const same =
        slow.find(({ algorithm }) => algorithm.tag === limit.algorithm.tag) ?? slidingWindowCounter({ limit: 20, window: '300d' })
      const limiter = limiterOf(same, { ...options, maxNewKeys: 1 })
      await limiter.check('one')
      await limiter.refund('one')
      const back = await limiter.check('one')
      expect(back).toMatchObject({ outcome: 'allowed', limits: [{ remaining: 19 }] })
      expect(await limiter.check('two')).toMatchObject({ outcome: 'undecided' })
      for (const ms of await leftOf()) expect(ms).toBeGreaterThan(TEN_MINUTES - 60_000)
    })
  })

  it('members of a hash are not swept before', async () => {
    const [limit] = QUICK as [AnyLimit]
    const store = open({ layout: 'packed', packing: { keys: 64 }, maxNewKeys: 1_000_000 })
    for (let at = 0; at < 40; at += 1)
      await verbs.decide(
        store,
        Array.from({ length: 50 }, (_, index) => ({ calls: [call(`m${at * 50 + index}`, limit)] })),
      )
    const [hash = ''] = await redis.keys(`${prefix}*`)
    // The member without a name says until when the hash lives.
    expect(await redis.hlen(hash)).toBe(2_001)
  })

  it('what is out on lease keeps its key as well', async () => {
    const [limit] = QUICK as [AnyLimit]
    const store = open({})
    const leaseRequest = { want: 5_000_000, holder: 7, sequence: 1, life: 1_000, kept: 0, returned: 0 }
    const request = { ...leaseRequest, call: call('leased', limit) }
    const answers = (await store.lease?.([request])) as readonly LeaseAnswer[]
    expect(answers[0]?.granted).toBeGreaterThan(0)
    for (const ms of await leftOf()) expect(ms).toBeGreaterThan(TEN_MINUTES - 60_000)
  })

  it('without it, states go as soon as they are not needed', async () => {
    const store = bareRedisStore({ client: ioredis(redis), prefix })
    const [verdict] = (await verbs.decide(store, [{ calls: [call('one', QUICK[0] as AnyLimit)] }])) as [Decided]
    expect(verdict.outcome).toBe('allowed')
    expect((await leftOf()).filter((ms) => ms > 1_000)).toEqual([])
  })
})
