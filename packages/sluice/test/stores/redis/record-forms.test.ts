import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import type { AnyLimit } from '../../../src/algorithms/algorithm.ts'
import { concurrency, fixedWindow, tokenBucket } from '../../../src/index.ts'
import { bareRedisStore, ioredis } from '../../../src/stores/redis/index.ts'
import { readValue } from '../../../src/stores/redis/value.ts'
import type { Call, StateId } from '../../../src/stores/store.ts'
import { changeBoth, decideBoth, START } from '../../../src/testing/store-suite/bench.ts'
import { heldGroup, recordOf, settlementOf } from '../../../src/testing/store-suite/held.ts'
import { Reference } from '../../../src/testing/reference.ts'
import { plainName } from './plain-name.ts'

const { redis: url } = inject('engines')
const prefix = `record-forms-${process.pid}:`
const SECOND = 1_000_000
const SHORT = 2 ** 40
const HALF = 2 ** 39
const WIDE = tokenBucket({ rate: '1000000/s', burst: 2_200_000 })
/** Takes longer than 2^39 microseconds to fill. */
const SLOW = tokenBucket({ rate: '1/s', burst: 600_000 })
const full = 600_000 * SECOND

/** A limit, what is held of it and for how long, and what is used. Then the bytes of the hold's record, before and after the settlement. */
const FORMS: readonly [
  name: string,
  limit: AnyLimit,
  held: number,
  micros: number,
  used: number | undefined,
  before: number,
  after: number,
][] = [
  ['a bucket that is nearly full', SLOW, SECOND, SECOND, SECOND, 33, 33],
  ['a bucket that was empty 2^39 - 1 microseconds ago', SLOW, full - HALF + 1, SECOND, undefined, 27, 27],
  ['a bucket that was empty 2^39 microseconds ago', SLOW, full - HALF, SECOND, undefined, 33, 33],
  ['a bucket that was empty 2^39 + 1 microseconds ago', SLOW, full - HALF - 1, SECOND, 0, 33, 47],
  ['2^40 - 1 microseconds', WIDE, SECOND, SHORT - 1, 0, 27, 37],
  ['2^40 microseconds', WIDE, SECOND, SHORT, 0, 33, 47],
  ['2^40 - 1 held', WIDE, SHORT - 1, SECOND, SHORT - 1, 27, 27],
  ['2^40 held', WIDE, SHORT, SECOND, SHORT, 33, 33],
  ['2^40 - 1 used', WIDE, SHORT - 2, SECOND, SHORT - 1, 27, 37],
  ['2^40 used', WIDE, SHORT - 1, SECOND, SHORT, 27, 47],
  ['2^40 - 1 not charged', fixedWindow({ limit: 1, window: '1d' }), SECOND, SECOND, SHORT + 2 * SECOND - 1, 27, 37],
  ['2^40 not charged', fixedWindow({ limit: 1, window: '1d' }), SECOND, SECOND, SHORT + 2 * SECOND, 27, 47],
  ['a slot', concurrency({ limit: 2, holdMs: 5 }), SECOND, SECOND, SECOND, 27, 37],
]

describe.skipIf(url === undefined)('records of holds in Redis, at the edges of their numbers', () => {
  const redis = new Redis(url ?? '', { lazyConnect: true })
  const store = bareRedisStore({ client: ioredis(redis), prefix })
  beforeAll(() => redis.connect())
  afterAll(async () => {
    const keys = await redis.keys(`${prefix}*`)
    if (keys.length > 0) await redis.del(keys)
    await redis.quit()
  })
  const other = tokenBucket({ rate: '1/d', burst: 3 })
  const read = (id: StateId): Promise<Buffer | null> => redis.getBuffer(plainName(prefix, id))

  it.each(FORMS)('%s', async (name, limit, held, micros, used, before, after) => {
    // Each hold is made once with this limit alone, for which the programs have a faster way, and once with another limit.
    for (const more of [false, true]) {
      const key = `${name} ${more}`
      const one: Call = { id: { scope: { text: `${limit.algorithm.tag}:` }, key }, limit, cost: held, phase: 0 }
      const calls = more ? [one, { id: { scope: { text: 'other:' }, key }, limit: other, cost: 1, phase: 0 }] : [one]
      const pair = { store, reference: new Reference() }
      const [answers, expected] = await decideBoth(pair, [heldGroup(calls, 'h', micros)], START)
      expect(answers).toEqual(expected)
      expect(answers[0]?.outcome).toBe('allowed')
      const record = recordOf(key, 'h')
      const found = async (): Promise<Buffer> => (await read(record)) as Buffer
      expect(readValue(await found()).numbers).toEqual(pair.reference.numbersOf(record))
      if (!more) expect(await found()).toHaveLength(before)
      await changeBoth(pair, [settlementOf(calls, 'h', used)], START)
      expect(readValue(await found()).numbers).toEqual(pair.reference.numbersOf(record))
      expect(readValue(await read(one.id)).numbers).toEqual(pair.reference.numbersOf(one.id))
      if (!more) expect(await found()).toHaveLength(after)
    }
  })

  it.each([
    ['cut off', (value: Buffer) => value.subarray(0, 26)],
    ['without a part of its end', (value: Buffer) => value.subarray(0, 12)],
    ['too long', (value: Buffer) => Buffer.concat([value, Buffer.from([0])])],
    ['of a kind before', (value: Buffer) => Buffer.concat([Buffer.from([7]), value.subarray(1)])],
    ['of a kind behind', (value: Buffer) => Buffer.concat([Buffer.from([16]), value.subarray(1)])],
    ['of another form', (value: Buffer) => Buffer.concat([Buffer.from([12]), value.subarray(1)])],
    ['of the wide form', (value: Buffer) => Buffer.concat([Buffer.from([10]), value.subarray(1)])],
    ['empty', () => Buffer.alloc(0)],
  ])('what is %s is not a record: the hold is unknown, and may be made', async (name, changed) => {
    const one: Call = { id: { scope: { text: 'tb:' }, key: name }, limit: WIDE, cost: SECOND, phase: 0 }
    const record = recordOf(name, 'h')
    await store.decide([heldGroup([one], 'h', SECOND)], { now: START })
    const bytes = changed((await read(record)) as Buffer)
    await redis.set(plainName(prefix, record), bytes, 'PX', 60_000)
    expect(await store.change([settlementOf([one], 'h', 0)], { now: START })).toMatchObject([{ hold: { status: 'unknown', expires: 0 } }])
    expect(await read(record)).toEqual(bytes)
    expect(await store.decide([heldGroup([one], 'h', SECOND)], { now: START })).toMatchObject([{ outcome: 'allowed' }])
    expect(await store.change([settlementOf([one], 'h', 0)], { now: START })).toMatchObject([{ hold: { status: 'settled' } }])
  })
})
