import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import type { AnyLimit } from '../../../src/algorithms/algorithm.ts'
import { tokenBucket } from '../../../src/algorithms/token-bucket.ts'
import { ioredis, bareRedisStore } from '../../../src/stores/redis/index.ts'
import { readValue } from '../../../src/stores/redis/value.ts'
import type { Call, CallGroup, HoldChange } from '../../../src/stores/store.ts'
import { LIMITS } from '../../../src/testing/limits.ts'
import { seeded } from '../../../src/testing/random.ts'
import { Reference } from '../../../src/testing/reference.ts'
import { heldGroup, recordOf, settlementOf } from '../../../src/testing/store-suite/held.ts'
import { draws } from '../../draws.ts'
import { plainName } from './plain-name.ts'

const { redis: url } = inject('engines')
const prefix = `held-batches-${process.pid}:`
const START = 1_800_000_000_000_000
const SECOND = 1_000_000
/** Buckets whose values need a long form (lua/storage/bucket-value.lua). For the first two, the records of holds do too. */
const LONG = [
  tokenBucket({ rate: '1000/30d', burst: 1_000 }),
  tokenBucket({ rate: '1000000/s', burst: 2_000_000 }),
  tokenBucket({ rate: '16777216/s', burst: 1_000_000 }),
]
const BUCKETS = [...LIMITS.filter(({ algorithm }) => algorithm.tag === 'tb'), tokenBucket({ rate: '5/s', burst: 40 }), ...LONG]
const OTHERS = LIMITS.filter(({ algorithm }) => algorithm.tag === 'fw')

describe.skipIf(url === undefined)('holds of many callers in one call of Redis', () => {
  const redis = new Redis(url ?? '', { lazyConnect: true })
  const store = bareRedisStore({ client: ioredis(redis), prefix })
  beforeAll(() => redis.connect())
  afterAll(async () => {
    const keys = await redis.keys(`${prefix}*`)
    if (keys.length > 0) await redis.del(keys)
    await redis.quit()
  })

  it('are reserved, settled and extended one after the other, as the reference does, over limits that change', async () => {
    const random = seeded(23)
    const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T
    const reference = new Reference()
    const open: { readonly calls: readonly Call[]; readonly id: string }[] = []
    let [now, made] = [START, 0]
    let [few, other] = [BUCKETS.slice(0, 2), OTHERS[0] as AnyLimit]
    for (let step = 0; step < draws(1_000, 60); step += 1) {
      if (step % 20 === 0) [few, other] = [[pick(BUCKETS), pick(BUCKETS)], pick(OTHERS)]
      now += random() < 0.3 ? 0 : Math.floor(random() ** 4 * 60 * SECOND)
      const limit = random() < 0.9 ? (few[0] as AnyLimit) : pick(few)
      const groups = Array.from({ length: 1 + Math.floor(random() * 8) }, (): CallGroup => {
        const key = `k${Math.floor(random() * 4)}`
        const cost = Math.max(1, Math.round((random() < 0.5 ? 1 : random() * 0.6 * limit.capacity) * 1_000_000))
        const one: Call = { id: { scope: { text: 'tb:' }, key }, limit, cost, phase: 0 }
        const calls = random() < 0.8 ? [one] : [one, { id: { scope: { text: 'fw:' }, key }, limit: other, cost: SECOND, phase: 0 }]
        if (random() < 0.1) return { calls }
        const again = random() < 0.1 ? open.at(-1)?.id : undefined
        const id = again ?? `h${(made += 1)}`
        open.push({ calls, id })
        return heldGroup(calls, id, 1 + Math.floor(random() * 100 * SECOND))
      })
      const verdicts = await store.decide(groups, { now })
      const expected = groups.map((group) => reference.decide(group, now))
      expect(verdicts.map(({ outcome, calls }) => ({ outcome, calls }))).toEqual(expected.map(({ outcome, calls }) => ({ outcome, calls })))
      now += random() < 0.3 ? -Math.floor(random() * SECOND) : Math.floor(random() * 3 * SECOND)
      const changes = open.splice(0, Math.floor(random() * 9)).map(({ calls, id }): HoldChange => {
        const [{ id: state, cost }] = calls as readonly [Call]
        if (random() < 0.1) return { kind: 'extend', id: recordOf(state.key, id), calls, holder: id, micros: 30 * SECOND }
        const used = pick([undefined, 0, cost, Math.floor(cost / 2), Math.floor(random() * 1.4 * cost), 2 * cost, 4 * cost])
        return settlementOf(calls, id, used) as HoldChange
      })
      for (const kind of ['settle', 'extend']) {
        const some = changes.filter((change) => change.kind === kind)
        const results = await store.change(some, { now })
        expect(results).toEqual(some.map((change) => ({ hold: reference.changeHold(change, now) })))
      }
      const ended = new Set(changes.map(({ id }) => id.scope.text))
      for (const { id, numbers } of reference.states.values()) {
        if (!ended.has(id.scope.text) && !/^(?:tb|fw):$/.test(id.scope.text)) continue
        const value = await redis.getBuffer(plainName(prefix, id))
        // Redis forgets an expired state (law 6).
        if (value !== null) expect(readValue(value).numbers).toEqual(numbers)
      }
    }
  })

  it('that use more than they held take the rest from what is there: a bucket that is full again, and one that others made full', async () => {
    const limit = tokenBucket({ rate: '10/s', burst: 10 })
    const call = (key: string, cost: number): Call => ({ id: { scope: { text: 'more:tb:' }, key }, limit, cost: cost * SECOND, phase: 0 })
    const left = async (key: string, now: number): Promise<number | undefined> => {
      const [verdict] = await store.decide([{ calls: [call(key, 1)] }], { charge: false, now })
      return verdict?.calls?.[0]?.remaining
    }
    const hold = (key: string, id: string, cost: number): CallGroup => heldGroup([call(key, cost)], id, 60 * SECOND)
    await store.decide([hold('a', 'first', 2), hold('b', 'first', 1)], { now: START })
    const later = START + 30 * SECOND
    await store.change([settlementOf([call('a', 0)], 'first', 9 * SECOND)], { now: later })
    expect(await left('a', later)).toBe(3)
    await store.decide([hold('b', 'second', 1), hold('b', 'third', 1)], { now: later })
    const settled = [
      ['second', 0],
      ['third', 0],
      ['first', 3],
    ] as const
    await store.change(
      settled.map(([id, used]) => settlementOf([call('b', 0)], id, used * SECOND)),
      { now: later },
    )
    expect(await left('b', later)).toBe(8)
  })

  it("on the server's own clock: what is left is the burst less what was charged", async () => {
    const limit = tokenBucket({ rate: '1/d', burst: 1_000 })
    const random = seeded(5)
    const call = (key: string, cost: number): Call => ({ id: { scope: { text: 'own:tb:' }, key }, limit, cost: cost * SECOND, phase: 0 })
    const left = new Map(['a', 'b', 'c'].map((key) => [key, 1_000]))
    for (let round = 0; round < 20; round += 1) {
      const held = Array.from({ length: 12 }, (_, index) => {
        const key = 'abc'[Math.floor(random() * 3)] as string
        return { key, id: `${round} ${index}`, cost: 2 + Math.floor(random() * 6), used: Math.floor(random() * 8) }
      })
      const groups = held.map(({ key, id, cost }) => heldGroup([call(key, cost)], id, 60 * SECOND))
      for (const { outcome } of await store.decide(groups)) expect(outcome).toBe('allowed')
      const changes = held.map(({ key, id, cost, used }) => settlementOf([call(key, cost)], id, used * SECOND))
      for (const [index, { hold }] of (await store.change(changes)).entries()) {
        const { key, cost, used } = held[index] as (typeof held)[number]
        expect(hold).toMatchObject({ status: 'settled', parts: [{ held: cost * SECOND, charged: used * SECOND, overage: 0 }] })
        left.set(key, (left.get(key) as number) - used)
      }
      for (const { hold } of await store.change(changes)) expect(hold).toMatchObject({ status: 'settled', repeated: true })
      for (const [key, tokens] of left) {
        const [verdict] = await store.decide([{ calls: [call(key, 1)] }], { charge: false })
        expect(verdict?.calls?.[0]?.remaining).toBe(tokens)
      }
    }
  })
})
