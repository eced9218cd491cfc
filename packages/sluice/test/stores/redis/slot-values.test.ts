import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { concurrency, tokenBucket } from '../../../src/index.ts'
import { holderOf } from '../../../src/algorithms/concurrency.ts'
import { bareRedisStore, ioredis } from '../../../src/stores/redis/index.ts'
import { readValue } from '../../../src/stores/redis/value.ts'
import type { Call, CallGroup } from '../../../src/stores/store.ts'
import { heldGroup, recordOf, settlementOf } from '../../../src/testing/store-suite/held.ts'
import { plainName } from './plain-name.ts'

const { redis: url } = inject('engines')
const prefix = `slot-values-${process.pid}:`
const START = 1_763_692_800_123_456
const HOUR = 3_600_000_000
const MICRO = 1_000_000

/** The value of a concurrency limit's state: when it was written, the last fencing number, and five numbers for each holder. */
function slotsValue(seen: number, last: number, holders: readonly (readonly number[])[]): Buffer {
  const sevens = [seen, last, ...holders.flat()].map((number) => (2n ** 53n + BigInt(number)).toString(16).padStart(14, '0'))
  const expires = Math.max(last + 1, holders.at(-1)?.[3] ?? 0)
  return Buffer.from(`03${BigInt(expires).toString(16).padStart(14, '0')}${sevens.join('')}`, 'hex')
}

describe.skipIf(url === undefined)('states of slots in Redis', () => {
  const redis = new Redis(url ?? '', { lazyConnect: true })
  const store = bareRedisStore({ client: ioredis(redis), prefix })
  beforeAll(() => redis.connect())
  afterAll(async () => {
    const keys = await redis.keys(`${prefix}*`)
    if (keys.length > 0) await redis.del(keys)
    await redis.quit()
  })
  const call = (key: string, limit: number, cost = 1): Call => ({
    id: { scope: { text: 'cc:' }, key },
    limit: concurrency({ limit, holdMs: HOUR / 1_000 }),
    cost: Math.round(cost * MICRO),
    phase: 0,
  })
  const write = (one: Call, value: Buffer): Promise<unknown> => redis.set(plainName(prefix, one.id), value, 'PX', 60_000)
  const read = (one: Call): Promise<Buffer | null> => redis.getBuffer(plainName(prefix, one.id))
  const take = async (one: Call, id: string) => (await store.decide([{ calls: [one], options: { hold: { id } } }], { now: START }))[0]

  it('name at most 4,000 holders, however little each of them costs', async () => {
    const one = call('many', 4_000, 0.001)
    const holders = Array.from({ length: 3_999 }, (_, index) => [index, index, 1, START + HOUR + index, START + index - 5_000])
    await write(one, slotsValue(START - 1_000, START - 1_002, holders))
    expect(await take(one, 'last')).toMatchObject({ outcome: 'allowed', calls: [{ remaining: 0 }] })
    expect(await take(one, 'more')).toMatchObject({ outcome: 'denied', calls: [{ retryAfter: HOUR }] })
    // Whoever is a holder already stays one.
    expect(await take(one, 'last')).toMatchObject({ outcome: 'allowed', calls: [{ grant: { again: true, fence: START } }] })
    await store.change([{ kind: 'release', call: one, holder: 'last' }], { now: START })
    expect(await take(one, 'more')).toMatchObject({ outcome: 'allowed' })
  })

  it('have an id where a holder begins, and nowhere else', async () => {
    // The bytes of another holder's cost and end are the same as those of this holder's id.
    const id = Array.from({ length: 100 }, (_, index) => `h${index}`).find((text) => holderOf(text)[1] > START + HOUR) as string
    const [first, second] = holderOf(id)
    const other = [5, 6, first, second, START]
    const one = call('misplaced', 3)
    const value = slotsValue(START, START, [other])
    await write(one, value)
    await store.change([{ kind: 'release', call: one, holder: id }], { now: START })
    expect(await read(one)).toEqual(value)
    expect(await take(one, id)).toMatchObject({ outcome: 'denied' })
    // Behind the other one, it is found.
    await write(one, slotsValue(START, START + 1, [other, [first, second, MICRO, second + 1, START + 1]]))
    expect(await take(one, id)).toMatchObject({ outcome: 'allowed', calls: [{ grant: { again: true, fence: START + 1 } }] })
    await store.change([{ kind: 'release', call: one, holder: id }], { now: START })
    expect(readValue(await read(one)).numbers).toEqual([START, START + 1, ...other])
  })

  it.each([
    [
      'of another first byte',
      Buffer.concat([Buffer.from([4]), slotsValue(START, START, [[5, 6, MICRO, START + HOUR, START]]).subarray(1)]),
    ],
    ['too short', slotsValue(START, START, []).subarray(0, 21)],
    ['cut off', slotsValue(START, START, [[5, 6, MICRO, START + HOUR, START]]).subarray(0, 56)],
    ['too long', Buffer.concat([slotsValue(START, START, []), Buffer.from([0])])],
    ['empty', Buffer.alloc(0)],
  ])('are absent where the value is %s, together with its block', async (_, value) => {
    for (const stored of [value, Buffer.concat([Buffer.from('ffffffffffffff', 'hex'), value])]) {
      const one = call(`no state ${stored.length}`, 2)
      await write(one, stored)
      const isBlock = stored.length === 7
      expect(await take(one, 'a')).toMatchObject(isBlock ? { outcome: 'denied' } : { outcome: 'allowed', calls: [{ remaining: 1 }] })
      if (isBlock) continue
      expect(readValue(await read(one)).numbers?.slice(0, 2)).toEqual([START, START])
      await write(one, stored)
      await store.change([{ kind: 'release', call: one, holder: 'a' }], { now: START })
      expect(await read(one)).toEqual(stored)
    }
  })

  it('are given back by many holders at once, each its own', async () => {
    const [one, other] = [call('together', 9, 2), call('other', 9, 2)]
    const groups = ['a', 'b', 'c', 'd'].flatMap((id): CallGroup[] =>
      [one, other].map((each) => ({ calls: [each], options: { hold: { id } } })),
    )
    for (const { outcome } of await store.decide(groups, { now: START })) expect(outcome).toBe('allowed')
    const gone = [
      [one, 'b'],
      [other, 'd'],
      [one, 'd'],
      [one, 'nobody'],
      [other, 'a'],
      [one, 'b'],
    ] as const
    await store.change(
      gone.map(([each, holder]) => ({ kind: 'release', call: each, holder })),
      { now: START + 1 },
    )
    const left = async (each: Call): Promise<unknown> => readValue(await read(each)).numbers
    const entry = (id: string, fence: number): readonly number[] => [...holderOf(id), 2 * MICRO, START + HOUR, START + fence]
    expect(await left(one)).toEqual([START + 1, START + 3, ...entry('a', 0), ...entry('c', 2)])
    expect(await left(other)).toEqual([START + 1, START + 3, ...entry('b', 1), ...entry('c', 2)])
  })

  it('are all free on a new key, and gone once nothing needs them', async () => {
    const all = call('whole', 4, 4)
    expect(await take(all, 'a')).toMatchObject({ outcome: 'allowed', calls: [{ remaining: 0 }] })
    await store.change([{ kind: 'release', call: all, holder: 'a' }], { now: START })
    // The next fencing number must be larger.
    expect(await read(all)).toEqual(slotsValue(START, START, []))
    await take(all, 'b')
    await store.change([{ kind: 'release', call: all, holder: 'b' }], { now: START + 2 })
    expect(await read(all)).toBeNull()
  })

  it('are prolonged wherever their holder is, and not changed where they end no later', async () => {
    const slot = call('prolonged', 9)
    const ids = ['a', 'b', 'c']
    const ends = new Map(ids.map((id, index) => [id, START + (index + 1) * MICRO]))
    await store.decide(
      ids.map((id, index) => heldGroup([slot], id, (index + 1) * MICRO)),
      { now: START },
    )
    let [now, seen] = [START, START]
    for (const [id, micros] of [
      ['a', MICRO - 1],
      ['a', 2 * MICRO],
      ['b', 5 * MICRO],
      ['c', 2 * MICRO],
      ['a', 3 * MICRO],
      ['b', 4 * MICRO],
    ] as const) {
      now += 1
      const [result] = await store.change([{ kind: 'extend', id: recordOf(slot.id.key, id), calls: [slot], holder: id, micros }], { now })
      expect(result?.hold?.status).toBe('open')
      if (now + micros > (ends.get(id) as number)) seen = now
      ends.set(id, Math.max(ends.get(id) as number, now + micros))
      const held = [...ends].sort(([, one], [, other]) => one - other)
      const entries = held.map(([holder, until]) => [...holderOf(holder), MICRO, until, START + ids.indexOf(holder)])
      expect(await read(slot)).toEqual(slotsValue(seen, START + 2, entries))
    }
  })

  it('and of records: more holds than a function of a program takes arguments are reserved and settled at once', async () => {
    const limit = tokenBucket({ rate: '1/d', burst: 10 })
    const calls = Array.from({ length: 4_100 }, (_, index): Call => {
      return { id: { scope: { text: 'tb:' }, key: `many${index}` }, limit, cost: 3 * MICRO, phase: 0 }
    })
    const groups = calls.map((one) => heldGroup([one], 'h', HOUR))
    for (const { outcome } of await store.decide(groups, { now: START })) expect(outcome).toBe('allowed')
    const results = await store.change(
      calls.map((one, index) => settlementOf([one], 'h', (index % 3) * MICRO)),
      { now: START },
    )
    expect(results.map(({ hold }) => hold?.parts[0]?.charged)).toEqual(calls.map((_, index) => (index % 3) * MICRO))
    const verdicts = await store.decide(
      calls.map((one) => ({ calls: [one] })),
      { charge: false, now: START },
    )
    expect(verdicts.map((verdict) => verdict.calls?.[0]?.remaining)).toEqual(calls.map((_, index) => 10 - (index % 3)))
  })
})
