import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import type { AnyLimit } from '../../../src/algorithms/algorithm.ts'
import { leasedBucketKernel, type LeasedState } from '../../../src/algorithms/leased-bucket.ts'
import { fixedWindow } from '../../../src/algorithms/fixed-window.ts'
import { tokenBucket } from '../../../src/algorithms/token-bucket.ts'
import { ioredis, bareRedisStore } from '../../../src/stores/redis/index.ts'
import { readValue } from '../../../src/stores/redis/value.ts'
import type { Call, LeaseRequest, StateId, Store } from '../../../src/stores/store.ts'
import { LIMITS } from '../../../src/testing/limits.ts'
import { seeded } from '../../../src/testing/random.ts'
import { manualClock } from '../../../src/time/manual.ts'
import { leasingStore } from '../remote/leasing-store.ts'
import { immortal } from './immortal.ts'
import { draws } from '../../draws.ts'
import { plainName } from './plain-name.ts'
import * as verbs from '../../../src/testing/store-verbs.ts'

const { redis: url } = inject('engines')
const prefix = `leases-${process.pid}:`
const START = 1_763_692_800_123_456
const WINDOW = fixedWindow({ limit: 50, window: '1s' })

describe.skipIf(url === undefined)('leases in Redis', () => {
  const redis = new Redis(url ?? '', { lazyConnect: true })
  const store = bareRedisStore({ client: ioredis(redis), prefix })
  beforeAll(() => redis.connect())
  afterAll(async () => {
    expect(await immortal(redis, prefix)).toEqual([])
    await redis.quit()
  })

  it('X7: count in a smaller plan too: what is out on lease and what is left are together no more than its burst', async () => {
    const [wide, narrow] = [tokenBucket({ rate: '1/day', burst: 100 }), tokenBucket({ rate: '1/day', burst: 60 })]
    const reference = leasingStore(manualClock())
    for (const want of [0, 10, 50, 60, 90]) {
      const id = { scope: { text: 'smaller:tb:' }, key: `k${want}` }
      const call = (limit: AnyLimit, cost = 1): Call => ({ id, limit, cost: cost * 1_000_000, phase: 0 })
      const request = { call: call(wide), want: want * 1_000_000, holder: 7, sequence: 1, life: 3_600_000_000, kept: 0, returned: 0 }
      expect(await store.lease?.([request], { now: START })).toEqual(await reference.lease([request], { now: START }))
      for (const [limit, cost] of [
        [narrow, 1],
        [narrow, 5],
        [wide, 5],
        [narrow, 40],
      ] as const) {
        const groups = [{ calls: [call(limit, cost)] }]
        const [verdict] = await verbs.decide(store, groups, { now: START })
        expect([verdict]).toEqual(await reference.decide(groups, { now: START }))
        if (limit === narrow) expect((verdict?.calls[0]?.remaining ?? 0) + want).toBeLessThanOrEqual(Math.max(60, want))
      }
    }
  })

  it('X7: of a bucket that was in debt, and is full by the smaller limit, do not fill it by the larger one', async () => {
    const [wide, narrow] = [tokenBucket({ rate: '1/s', burst: 60 }), tokenBucket({ rate: '1/s', burst: 40 })]
    const reference = leasingStore(manualClock())
    const id = { scope: { text: 'owing:tb:' }, key: 'k' }
    const call = (limit: AnyLimit, cost = 1): Call => ({ id, limit, cost: cost * 1_000_000, phase: 0 })
    const same = async (act: (one: Store) => Promise<unknown>): Promise<void> => {
      expect(await act(store)).toEqual(await act(reference))
      const found = readValue(await redis.getBuffer(plainName(prefix, id))).numbers
      expect(found).toEqual(leasedBucketKernel.codec.encodeState(reference.stateOf(id) as LeasedState))
    }
    const at = (seconds: number): { now: number } => ({ now: START + seconds * 1_000_000 })
    const request = { call: call(narrow), want: 1_000_000, holder: 7, sequence: 1, life: 1_000_000, kept: 0, returned: 0 }
    await same((one) => verbs.decide(one, [{ calls: [call(wide, 60)] }], at(0)))
    await same((one) => verbs.adjust(one, [call(narrow)], [-30_000_000], at(0)))
    await same(async (one) => one.lease?.([request], at(75)))
    await same((one) => verbs.decide(one, [{ calls: [call(wide, 41)] }], at(77)))
    expect(await verbs.peek(store, [{ calls: [call(wide, 41)] }], at(77))).toMatchObject([{ outcome: 'denied' }])
  })

  it('X7: are cut to a changed plan where nothing else comes of the call: a late request, a refund for what has flowed in again', async () => {
    const [wide, narrow] = [tokenBucket({ rate: '10/s', burst: 10 }), tokenBucket({ rate: '7/s', burst: 7 })]
    const reference = leasingStore(manualClock())
    const scope = { text: 'changed:tb:' }
    const callOf = (key: string, limit: AnyLimit): Call => ({ id: { scope, key }, limit, cost: 1_000_000, phase: 0 })
    const both = async (act: (one: Store) => Promise<unknown>): Promise<void> => {
      expect(await act(store)).toEqual(await act(reference))
    }
    for (const key of ['late', 'refund']) {
      const request = { call: callOf(key, wide), want: 5_000_000, holder: 7, sequence: 5, life: 3_600_000_000, kept: 0, returned: 0 }
      await both(async (one) => one.lease?.([request], { now: START }))
      const now = START + 10_000_000
      if (key === 'late') await both(async (one) => one.lease?.([{ ...request, call: callOf(key, narrow), sequence: 4 }], { now }))
      else await both((one) => verbs.adjust(one, [callOf(key, narrow)], [1_000_000], { now, receipt: START }))
      const { id } = request.call
      const found = readValue(await redis.getBuffer(plainName(prefix, id))).numbers
      expect(found).toEqual(leasedBucketKernel.codec.encodeState(reference.stateOf(id) as LeasedState))
      expect(await verbs.peek(store, [{ calls: [callOf(key, narrow)] }], { now })).toMatchObject([{ calls: [{ remaining: 2 }] }])
    }
  })

  it.each([1, 2, 3].slice(0, draws(3, 1)))(
    'are granted, renewed, settled and counted as the pure functions have it (seed %d)',
    async (seed) => {
      const random = seeded(seed)
      const pick = (count: number): number => Math.floor(random() * count)
      const buckets = [...LIMITS.filter(({ algorithm }) => algorithm.tag === 'tb'), tokenBucket({ rate: '50/s', burst: 100 })]
      const clock = manualClock()
      const reference = leasingStore(clock)
      const scope = { text: `${seed}:tb:` }
      const other = { text: `${seed}:fw:` }
      const ids: StateId[] = Array.from({ length: 5 }, (_, index) => ({ scope, key: `k${index}` }))
      const limits = ids.map(() => buckets[pick(buckets.length)] as AnyLimit)
      const holders = new Map<string, { sequence: number; left: number }>()
      let now = START
      let granted = 0
      const callOf = (share: number): Call => {
        const place = pick(ids.length)
        const limit = limits[place] as AnyLimit
        return { id: ids[place] as StateId, limit, cost: Math.max(1, Math.round(random() * share * limit.capacity * 1_000_000)), phase: 0 }
      }
      const leaseOf = (): LeaseRequest => {
        const call = callOf(0.2)
        const holder = 1 + pick(random() < 0.02 ? 90 : 4)
        const name = `${call.id.key}:${holder}`
        const known = holders.get(name) ?? { sequence: 0, left: 0 }
        if (random() < 0.95) known.sequence += 1
        holders.set(name, known)
        const kept = pick(known.left + 1)
        const want = random() < 0.2 ? 0 : Math.max(call.cost, Math.round(random() * call.limit.capacity * 1_000_000))
        return { call, want, holder, sequence: known.sequence, life: 1 + pick(3_000_000), kept, returned: pick(known.left - kept + 1) }
      }
      for (let step = 0; step < draws(1_500, 300); step += 1) {
        now += random() < 0.1 ? -pick(100_000) : pick(random() < 0.03 ? 20_000_000 : 400_000)
        if (random() < 0.02) limits[pick(limits.length)] = buckets[pick(buckets.length)] as AnyLimit
        const kind = random()
        const given = { now }
        if (kind < 0.45) {
          const requests = Array.from({ length: 1 + pick(3) }, leaseOf)
          const expected = await reference.lease(requests, given)
          expect(await store.lease?.(requests, given)).toEqual(expected)
          for (const [index, { call, holder, kept }] of requests.entries()) {
            const got = expected[index]?.granted ?? 0
            const known = holders.get(`${call.id.key}:${holder}`)
            if (known !== undefined) known.left = kept + got
            if (got > 0) granted += 1
          }
        } else if (kind < 0.9) {
          const groups = Array.from({ length: 1 + pick(5) }, () => {
            const calls = Array.from({ length: 1 + pick(3) }, () => callOf(0.5))
            const window: Call = { id: { scope: other, key: 'w' }, limit: WINDOW, cost: 1_000_000, phase: 0 }
            if (random() < 0.1) return { calls: [...calls, window] }
            return random() < 0.3 ? { calls, options: { maxWait: pick(5_000_000) } } : { calls }
          })
          const options = { ...given, charge: random() >= 0.1 }
          expect(await store.decide(groups, options)).toEqual(await reference.decide(groups, options))
        } else if (kind < 0.96) {
          const call = callOf(0.5)
          const amount = (random() < 0.5 ? -1 : 1) * call.cost
          const options = random() < 0.5 ? given : { now, receipt: now - pick(3_000_000) }
          await verbs.adjust(reference, [call], [amount], options)
          await verbs.adjust(store, [call], [amount], options)
        } else {
          const id = ids[pick(ids.length)] as StateId
          if (random() < 0.5) {
            await verbs.reset(reference, [id], given)
            await verbs.reset(store, [id], given)
          } else {
            const length = random() < 0.4 ? null : pick(500_000)
            await verbs.block(reference, [id], length, given)
            await verbs.block(store, [id], length, given)
          }
        }
        for (const id of ids) {
          const state = reference.stateOf(id) as LeasedState | undefined
          const found = readValue(await redis.getBuffer(plainName(prefix, id))).numbers
          expect(found).toEqual(state === undefined ? undefined : leasedBucketKernel.codec.encodeState(state))
        }
      }
      expect(granted).toBeGreaterThan(draws(100, 18))
    },
  )

  it('live until their end and the last tokens, on the clock of the server', async () => {
    const limit = tokenBucket({ rate: '10/s', burst: 100 })
    const id = { scope: { text: 'tb:' }, key: 'life' }
    const call = { id, limit, cost: 1_000_000, phase: 0 }
    const request = { call, want: 60_000_000, holder: 7, sequence: 1, life: 30_000_000, kept: 0, returned: 0 }
    const [answer] = (await store.lease?.([request])) ?? []
    expect(answer).toMatchObject({ granted: 60_000_000, verdict: { remaining: 40 } })
    // The bucket keeps forty tokens while sixty are leased. When the lease ends after 30 s, these sixty are refilled in 6 s.
    const expires = (answer?.at ?? 0) + 30_000_000 + 6_000_000
    expect(Math.floor(expires / 1_000) + 1).toBe(await redis.pexpiretime(plainName(prefix, id)))
    expect(await verbs.decide(store, [{ calls: [{ ...call, cost: 41_000_000 }] }])).toMatchObject([{ outcome: 'denied' }])
    const [settled] = (await store.lease?.([{ ...request, want: 0, sequence: 2, returned: 50_000_000 }])) ?? []
    expect(settled).toMatchObject({ granted: 0, verdict: { remaining: 90 } })
    await redis.del(plainName(prefix, id))
  })
})
