import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import type { AnyLimit } from '../../../src/algorithms/algorithm.ts'
import { tokenBucket } from '../../../src/algorithms/token-bucket.ts'
import { ioredis, bareRedisStore } from '../../../src/stores/redis/index.ts'
import { readValue } from '../../../src/stores/redis/value.ts'
import type { Call, Decided } from '../../../src/stores/store.ts'
import { Reference } from '../../../src/testing/reference.ts'
import { answerOf, changeBoth, decideBoth } from '../../../src/testing/store-suite/bench.ts'
import { heldGroup, settlementOf } from '../../../src/testing/store-suite/held.ts'
import { plainName } from './plain-name.ts'
import * as verbs from '../../../src/testing/store-verbs.ts'

const { redis: url } = inject('engines')
const prefix = `bucket-forms-${process.pid}:`
const START = 1_763_692_800_123_456

/**
 * How many bytes a bucket's value has after a first charge of `cost` micro-tokens. For each number of a form, there is the largest that
 * fits, and one more.
 */
const FORMS: readonly [name: string, limit: AnyLimit, cost: number, bytes: number][] = [
  ['255 a second', tokenBucket({ rate: '255/s', burst: 255 }), 1_000_000, 28],
  ['255 a second, rest 0', tokenBucket({ rate: '255/s', burst: 255 }), 51_000_000, 12],
  ['256 a second', tokenBucket({ rate: '256/s', burst: 255 }), 64_000_000, 28],
  ['burst 255', tokenBucket({ rate: '100/s', burst: 255 }), 1_000_000, 12],
  ['burst 256', tokenBucket({ rate: '100/s', burst: 256 }), 1_000_000, 28],
  ['burst 2.5', tokenBucket({ rate: '100/s', burst: '2.5' }), 1_000_000, 28],
  ['a rate of m > 1', tokenBucket({ rate: '100/min', burst: 10 }), 1_000_000, 28],
  ['age 2^24 - 1', tokenBucket({ rate: '1/s', burst: 20 }), 20_000_000 - 16_777_215, 12],
  ['age 2^24', tokenBucket({ rate: '1/s', burst: 20 }), 20_000_000 - 16_777_216, 28],
  ['n 2^24 - 1', tokenBucket({ rate: '16777215/s', burst: 1_000_000 }), 1_000_000, 28],
  ['n 2^24', tokenBucket({ rate: '16777216/s', burst: 1_000_000 }), 1_000_000, 49],
  ['burst 2^40 - 1', tokenBucket({ rate: '1000000/s', burst: '1099511.627775' }), 1_000_000, 28],
  ['burst 2^40', tokenBucket({ rate: '1000000/s', burst: '1099511.627776' }), 1_000_000, 49],
  ['age 2^40 - 2', tokenBucket({ rate: '1/2s', burst: 600_000 }), 50_244_186_113, 28],
  ['age 2^40', tokenBucket({ rate: '1/2s', burst: 600_000 }), 50_244_186_112, 49],
  ['zero before 1970', tokenBucket({ rate: { tokens: 1, per: '365d' }, burst: 100 }), 1_000_000, 49],
]

describe.skipIf(url === undefined)('X7: every form of a bucket, at the edges of its numbers', () => {
  const redis = new Redis(url ?? '', { lazyConnect: true })
  const store = bareRedisStore({ client: ioredis(redis), prefix })
  beforeAll(() => redis.connect())
  afterAll(async () => {
    await redis.quit()
  })
  let made = 0
  const callOf = (limit: AnyLimit, cost: number): Call => ({
    id: { scope: { text: 'tb:' }, key: `f${(made += 1)}` },
    limit,
    cost,
    phase: 0,
  })
  const stored = async ({ id }: Call): Promise<Buffer | null> => redis.getBuffer(plainName(prefix, id))
  const compare = (value: Buffer | null, call: Call, reference: Reference, bytes: number, ends = 0): void => {
    expect(readValue(value)).toEqual({ ends, tag: 'tb', numbers: reference.numbersOf(call.id) })
    expect(value).toHaveLength(bytes)
  }
  /** Expects that a value is read as it was written, by a call of the same limit and by a call of another limit. */
  const readAgain = async (call: Call, reference: Reference, now: number): Promise<void> => {
    for (const limit of [call.limit, tokenBucket({ rate: '7/s', burst: 13 })]) {
      const next = { ...call, limit, cost: 1_000_000 }
      const [verdict] = await verbs.decide(store, [{ calls: [next] }], { now })
      expect(answerOf(verdict as Decided)).toEqual(reference.decide({ calls: [next] }, now))
    }
    expect(readValue(await stored(call)).numbers).toEqual(reference.numbersOf(call.id))
  }

  it.each(FORMS)('%s: as it is charged, at a given time', async (_, limit, cost, bytes) => {
    const [call, reference] = [callOf(limit, cost), new Reference()]
    const [verdict] = await verbs.decide(store, [{ calls: [call] }], { now: START })
    expect(answerOf(verdict as Decided)).toEqual(reference.decide({ calls: [call] }, START))
    compare(await stored(call), call, reference, bytes)
    await readAgain(call, reference, START + 1)
  })

  it.each(FORMS)('%s: as it is charged, on the clock of the server', async (_, limit, cost, bytes) => {
    const [call, reference] = [callOf(limit, cost), new Reference()]
    const [verdict] = await verbs.decide(store, [{ calls: [call] }])
    const { at } = verdict as Decided
    expect(answerOf(verdict as Decided)).toEqual(reference.decide({ calls: [call] }, at))
    // A bucket that is full again is gone.
    const value = await stored(call)
    if (value !== null) compare(value, call, reference, bytes)
    const [again] = await verbs.decide(store, [{ calls: [call] }])
    expect(answerOf(again as Decided)).toEqual(reference.decide({ calls: [call] }, (again as Decided).at))
  })

  it.each(FORMS)('%s: as it is taken, and given back', async (_, limit, cost, bytes) => {
    const [call, reference] = [callOf(limit, cost), new Reference()]
    await verbs.adjust(store, [call], [-cost], { now: START })
    reference.adjust([call], [-cost], { now: START })
    compare(await stored(call), call, reference, bytes)
    await verbs.adjust(store, [call], [1], { now: START + 1 })
    reference.adjust([call], [1], { now: START + 1 })
    await readAgain(call, reference, START + 2)
  })

  it.each(FORMS)('%s: as a settlement leaves it', async (_, limit, cost, bytes) => {
    const [call, reference] = [callOf(limit, cost), new Reference()]
    const pair = { store, reference }
    await decideBoth(pair, [heldGroup([{ ...call, cost: 1 }], 'h', 60_000_000)], START)
    await changeBoth(pair, [settlementOf([call], 'h', cost)], START)
    compare(await stored(call), call, reference, bytes)
    await readAgain(call, reference, START + 1)
  })

  it.each(FORMS)('%s: behind a block', async (_, limit, cost, bytes) => {
    const [call, reference] = [callOf(limit, cost), new Reference()]
    await verbs.decide(store, [{ calls: [call] }], { now: START })
    reference.decide({ calls: [call] }, START)
    await verbs.block(store, [call.id], 1_000_000, { now: START })
    reference.block(call.id, START + 1_000_000)
    compare(await stored(call), call, reference, bytes + 7, START + 1_000_000)
    await verbs.adjust(store, [call], [-1], { now: START })
    reference.adjust([call], [-1], { now: START })
    await readAgain(call, reference, START + 999_999)
    await readAgain(call, reference, START + 1_000_000)
  })
})
