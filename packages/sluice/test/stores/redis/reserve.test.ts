import { Redis } from 'ioredis'
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest'
import type { AnyLimit } from '../../../src/algorithms/algorithm.ts'
import { holdRecord } from '../../../src/algorithms/hold-record.ts'
import { tokenBucket } from '../../../src/algorithms/token-bucket.ts'
import { bareRedisStore, ioredis } from '../../../src/stores/redis/index.ts'
import { reserveProgram } from '../../../src/stores/redis/programs.gen.ts'
import { readValue } from '../../../src/stores/redis/value.ts'
import { stateName } from '../../../src/keys/encode.ts'
import type { Call, CallGroup, Decided } from '../../../src/stores/store.ts'
import { LIMITS } from '../../../src/testing/limits.ts'
import { seeded } from '../../../src/testing/random.ts'
import { Reference } from '../../../src/testing/reference.ts'
import { heldGroup, settlementOf } from '../../../src/testing/store-suite/held.ts'
import { draws } from '../../draws.ts'
import { plainName } from './plain-name.ts'

const { redis: url } = inject('engines')
const prefix = `reserve-${process.pid}:`
const SECOND = 1_000_000
/**
 * Limits of the reserved buckets. The values of some need a long form (lua/storage/bucket-value.lua), and so do the records of their holds.
 */
const BUCKETS = [
  ...LIMITS.filter(({ algorithm }) => algorithm.tag === 'tb'),
  tokenBucket({ rate: '1/h', burst: 40 }),
  tokenBucket({ rate: '1000/30d', burst: 1_000 }),
  tokenBucket({ rate: '2000000/d', burst: 2_000_000 }),
  tokenBucket({ rate: '16777216/s', burst: 1_000_000 }),
]
const [SMALL, LARGE] = [60 * SECOND, 2 ** 40]

describe.skipIf(url === undefined)('reservations of many callers in one call of Redis, on its own clock', () => {
  const redis = new Redis(url ?? '', { lazyConnect: true })
  const port = ioredis(redis)
  const sent: string[] = []
  const counted: typeof port = { ...port, evalsha: (sha1, ...rest) => (sent.push(sha1), port.evalsha(sha1, ...rest)) }
  const store = bareRedisStore({ client: counted, prefix })
  const isReserve = (sha1: string): boolean => sha1 === reserveProgram.sha1
  beforeAll(() => redis.connect())
  beforeEach(() => void sent.splice(0))
  afterAll(async () => {
    const keys = await redis.keys(`${prefix}*`)
    if (keys.length > 0) await redis.del(keys)
    await redis.quit()
  })

  const callOf = (limit: AnyLimit, key: string, cost: number): Call => ({ id: { scope: { text: 'own:tb:' }, key }, limit, cost, phase: 0 })

  /** Decides groups in the store, and at the same instant in the reference. Compares verdicts, states, and how long the keys live. */
  const decideBoth = async (reference: Reference, groups: readonly CallGroup[], kept = 0, of = { store, prefix }): Promise<Decided[]> => {
    const verdicts = (await of.store.decide(groups)) as Decided[]
    const at = verdicts[0]?.at as number
    expect(verdicts.map(({ outcome, calls }) => ({ outcome, calls }))).toEqual(
      groups.map((group) => reference.decide(group, at)).map(({ outcome, calls }) => ({ outcome, calls })),
    )
    for (const { id } of groups.flatMap(({ calls }) => calls)) {
      const state = reference.states.get(stateName(id))
      const name = plainName(of.prefix, id)
      const [value, expires] = await Promise.all([redis.getBuffer(name), redis.pexpiretime(name)])
      // Redis forgets an expired state (law 6).
      if (value === null && (state === undefined || ((await redis.time())[0] ?? 0) * SECOND + 2 * SECOND > state.expires)) continue
      expect([id, readValue(value).numbers]).toEqual([id, state?.numbers])
      expect([id, expires]).toEqual([id, Math.floor(((state?.expires ?? 0) + kept) / 1_000) + 1])
    }
    return verdicts
  }

  it('are decided and recorded one after the other, as the reference does, over limits that change', async () => {
    const random = seeded(31)
    const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T
    const reference = new Reference()
    const outcomes = new Set<string>()
    for (let step = 0; step < draws(600, 40); step += 1) {
      const limit = pick(BUCKETS)
      const costs = Array.from({ length: 1 + Math.floor(random() * 2) }, () =>
        Math.max(1, Math.round(pick([1, random() * 0.5 * limit.capacity, 0.56 * limit.capacity]) * SECOND)),
      )
      const micros = pick([1, SMALL, LARGE - 1, LARGE])
      const order = Math.floor(random() * 4)
      const groups = Array.from({ length: 1 + Math.floor(random() * 4) }, (_, index) => {
        const key = `k${random() < 0.7 ? (order + index) % 4 : order}`
        return heldGroup([callOf(limit, key, pick(costs))], random() < 0.1 ? 'again' : `${step} ${index}`, micros)
      })
      for (const { outcome } of await decideBoth(reference, groups)) outcomes.add(outcome)
    }
    const large = tokenBucket({ rate: '2000000/d', burst: 2_000_000 })
    const [wide] = await decideBoth(reference, [heldGroup([callOf(large, 'large', 2 ** 40)], 'large', SMALL)])
    expect(wide?.outcome).toBe('allowed')
    expect([...outcomes].toSorted()).toEqual(['allowed', 'denied'])
    expect(sent.filter(isReserve).length).toBeGreaterThan(sent.length / 2)
  })

  it('are one call of their own program, whether their keys differ or not, unless one of them was made before', async () => {
    const limit = tokenBucket({ rate: '1/h', burst: 100 })
    const reference = new Reference()
    const hold = (key: string, id: string): CallGroup => heldGroup([callOf(limit, key, SECOND)], id, SMALL)
    await decideBoth(reference, [hold('x', '1'), hold('y', '1'), hold('z', '1')])
    await decideBoth(reference, [hold('x', '2'), hold('y', '2'), hold('x', '3'), hold('x', '3')])
    expect(sent.map(isReserve)).toEqual([true, true])
    const [, again] = await decideBoth(reference, [hold('y', '4'), hold('x', '1'), hold('x', '5')])
    expect([again?.outcome, sent.map(isReserve)]).toEqual(['denied', [true, true, true, false]])
    // Nothing was charged twice.
    expect(reference.decide({ calls: [callOf(limit, 'x', 1)] }, again?.at ?? 0, true).calls[0]?.remaining).toBe(96)
  })

  it('begin as settled if nothing is to be settled, and leave what is blocked or too full', async () => {
    const limit = tokenBucket({ rate: '1/h', burst: 3 })
    const reference = new Reference()
    const once = (key: string, id: string, cost = SECOND): CallGroup => {
      const { calls, ...group } = heldGroup([callOf(limit, key, cost)], id, SMALL)
      const [call, record] = calls as readonly [Call, Call]
      const { plan } = record.limit as { plan: Parameters<typeof holdRecord>[0] }
      return { ...group, calls: [call, { ...record, limit: holdRecord({ ...plan, final: true }) }] }
    }
    await decideBoth(reference, [once('p', '1'), once('q', '1')])
    const results = await store.change([settlementOf([callOf(limit, 'p', 0)], '1', 0)])
    expect(results).toMatchObject([{ hold: { status: 'settled', repeated: true, parts: [{ held: SECOND, charged: SECOND }] } }])
    const full = await decideBoth(reference, [once('p', '2', 3 * SECOND), once('r', '2', 3 * SECOND), once('r', '3', 3 * SECOND)])
    expect(full.map(({ outcome }) => outcome)).toEqual(['denied', 'allowed', 'denied'])
    await store.change([{ kind: 'block', id: callOf(limit, 's', 0).id, micros: SMALL }])
    const [blocked, other] = await store.decide([once('s', '4'), once('t', '4')])
    expect([blocked?.outcome, other?.outcome]).toEqual(['denied', 'allowed'])
    expect(await redis.exists(plainName(prefix, (once('s', '4').calls[1] as Call).id))).toBe(0)
    expect(sent.filter(isReserve)).toHaveLength(3)
  })

  it('leave their records to live as long after the settlement as before', async () => {
    const limit = tokenBucket({ rate: '1/h', burst: 100 })
    const calls = ['u', 'v', 'w'].map((key) => callOf(limit, key, 4 * SECOND))
    const groups = calls.map((call) => heldGroup([call], 'lives', SMALL))
    const lives = (): Promise<number[]> =>
      Promise.all(groups.map(({ calls: [, record] }) => redis.pexpiretime(plainName(prefix, (record as Call).id))))
    const [{ at }] = (await decideBoth(new Reference(), groups)) as [Decided]
    const before = await lives()
    expect(before).toEqual(groups.map(() => Math.floor((at + SMALL + 60 * SECOND) / 1_000) + 1))
    const used = [SECOND, 4 * SECOND, undefined]
    await store.change(calls.map((call, index) => settlementOf([call], 'lives', used[index])))
    expect(await lives()).toEqual(before)
  })

  it('are kept ten minutes longer with maxNewKeys', async () => {
    const own = `${prefix}kept:`
    const kept = { store: bareRedisStore({ client: counted, prefix: own, maxNewKeys: 1_000_000 }), prefix: own }
    const limit = tokenBucket({ rate: '1/h', burst: 100 })
    const reference = new Reference()
    const hold = (key: string, id: string): CallGroup => heldGroup([callOf(limit, key, SECOND)], id, SMALL)
    await decideBoth(reference, [hold('x', '1'), hold('y', '1')], 600 * SECOND, kept)
    await decideBoth(reference, [hold('x', '2'), hold('x', '3')], 600 * SECOND, kept)
    expect(sent.filter(isReserve)).toHaveLength(2)
  })
})
