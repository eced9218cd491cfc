import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import type { AnyLimit } from '../../../src/algorithms/algorithm.ts'
import { leasing } from '../../../src/algorithms/leased-bucket.ts'
import { slidingWindowLog } from '../../../src/algorithms/sliding-window-log.ts'
import { bareRedisStore, ioredis } from '../../../src/stores/redis/index.ts'
import { readValue } from '../../../src/stores/redis/value.ts'
import { type Call, isOfHold, type StateId, type Store } from '../../../src/stores/store.ts'
import { changeBoth, decideBoth, START } from '../../../src/testing/store-suite/bench.ts'
import { heldGroup, settlementOf } from '../../../src/testing/store-suite/held.ts'
import { Reference } from '../../../src/testing/reference.ts'
import type { Micros } from '../../../src/time/micros.ts'
import { draws } from '../../draws.ts'
import { EDGE_TAGS, edgeTrace } from '../edge-traces.ts'
import { plainName } from './plain-name.ts'

const { redis: url } = inject('engines')
const prefix = `held-edges-${process.pid}:`

describe.skipIf(url === undefined)('holds and slots in Redis at the instants and amounts at which something changes', () => {
  const redis = new Redis(url ?? '', { lazyConnect: true })
  const store = bareRedisStore({ client: ioredis(redis), prefix })
  beforeAll(() => redis.connect())
  afterAll(async () => {
    const keys = await redis.keys(`${prefix}*`)
    if (keys.length > 0) await redis.del(keys)
    await redis.quit()
  })
  const numbersOf = async (id: StateId) => readValue(await redis.getBuffer(plainName(prefix, id))).numbers
  /** Returns a limit for the reference whose buckets may have leases. The store gets the plain limit, and finds leases in the state. */
  const plain = new Map<AnyLimit, AnyLimit>()
  const as = (limit: AnyLimit): AnyLimit => {
    const leased = leasing(limit)
    plain.set(leased, limit)
    return leased
  }
  const asStored = (call: Call): Call => ({ ...call, limit: plain.get(call.limit) ?? call.limit })
  const leased: Store = {
    ...store,
    decide: (groups, options) =>
      store.decide(
        groups.map((group) => ({ ...group, calls: group.calls.map(asStored) })),
        options,
      ),
    change: (changes, options) =>
      store.change(
        changes.map((change) => {
          if (isOfHold(change)) return { ...change, calls: change.calls.map(asStored) }
          return 'call' in change ? { ...change, call: asStored(change.call) } : change
        }),
        options,
      ),
  }
  let sequence = 0
  const lease = async (call: Call, want: number, now: Micros): Promise<void> => {
    sequence += 1
    const request = {
      call: asStored(call),
      want,
      holder: 1 + (sequence % 3),
      sequence,
      life: 1 + (sequence % 5) * 400_000,
      kept: 0,
      returned: 0,
    }
    const [answer] = (await store.lease?.([request], { now })) ?? []
    expect(answer?.failure).toBeUndefined()
  }

  it.each(EDGE_TAGS)(
    '%s: as in the reference, with changed limits, leases, blocks, and time that steps back',
    async (tag) => {
      for (let seed = 1; seed <= draws(200, 1); seed += 1) {
        await edgeTrace({ store: leased, reference: new Reference(), numbersOf, as, lease }, tag, seed, 30)
      }
    },
    120_000,
  )

  it('settles holds wherever their entries are in a long log: before and after those that have left the window', async () => {
    const limit = slidingWindowLog({ limit: 400, window: '10s' })
    for (const [at, used] of [
      [10_000_000, [0, 1, 5]],
      [10_030_000, [5, 0, 1]],
      [10_100_000, [1, 5, 0]],
      [10_179_000, [0, 5, 3]],
      [10_180_000, [0, 1, 5]],
    ] as const) {
      const pair = { store, reference: new Reference() }
      const one: Call = { id: { scope: { text: 'long:sl:' }, key: `${at}` }, limit, cost: 1_000_000, phase: 0 }
      const places = [0, 5, 29, 30, 31, 63, 64, 65, 99, 128, 178, 179]
      for (let index = 0; index < 180; index += 1) {
        const held = { ...one, cost: 2_000_000 }
        const group = places.includes(index) ? heldGroup([held], `h${index}`, 60_000_000) : { calls: [one] }
        const [answers, expected] = await decideBoth(pair, [group], START + index * 1_000)
        expect(answers).toEqual(expected)
      }
      for (const [turn, index] of places.entries()) {
        await changeBoth(pair, [settlementOf([one], `h${index}`, (used[turn % 3] as number) * 1_000_000)], START + at + turn)
        expect(await numbersOf(one.id)).toEqual(pair.reference.numbersOf(one.id))
      }
    }
  })
})
