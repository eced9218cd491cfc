import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { tokenBucket } from '../../../src/algorithms/token-bucket.ts'
import { ioredis, bareRedisStore } from '../../../src/stores/redis/index.ts'
import { readValue } from '../../../src/stores/redis/value.ts'
import { plainName } from './plain-name.ts'
import * as verbs from '../../../src/testing/store-verbs.ts'

const { redis: url } = inject('engines')
const prefix = `impossible-${process.pid}:`
const START = 1_763_692_800_123_456
const MICRO = 1_000_000
const limit = tokenBucket({ rate: '10/s', burst: 10 })

interface Bucket {
  readonly zero?: number
  readonly rest?: number
  readonly age?: number
  readonly keepFor?: number
  readonly n?: number
  readonly m?: number
  readonly burst?: number
}

/** The three forms of a bucket's value (lua/storage/bucket-value.lua): the bytes of each number, and which numbers these are. */
const FORMS = {
  short: [[7, 3, 1, 1], ({ zero, age, n, burst }: Required<Bucket>) => [zero, age, n, burst / MICRO]],
  middle: [[7, 3, 5, 3, 5, 5], ({ zero, rest, age, n, m, burst }: Required<Bucket>) => [zero, rest, age, n, m, burst]],
  long: [
    [7, 7, 7, 7, 7, 7, 7],
    ({ zero, rest, age, keepFor, n, m, burst }: Required<Bucket>) => [zero, rest, zero + age, keepFor, n, m, burst],
  ],
} as const

type Form = keyof typeof FORMS

/**
 * The value of an empty bucket of another limit, with the given numbers instead of its own. 2^55 is added to the first number, which may be
 * negative.
 */
function value(form: Form, given: Bucket): Buffer {
  const [widths, numbersOf] = FORMS[form]
  const [zero = 0, ...others] = numbersOf({
    zero: START,
    rest: 0,
    age: 0,
    keepFor: 0,
    n: 7,
    m: form === 'short' ? 1 : 3,
    burst: 5 * MICRO,
    ...given,
  })
  const parts = [2n ** 55n + BigInt(zero), ...others.map(BigInt)].map((number, index) => {
    const width = widths[index] as number
    const digits = number.toString(16).padStart(2 * width, '0')
    if (digits.length > 2 * width) throw new Error(`${form}: ${number} takes more than ${width} bytes`)
    return Buffer.from(digits, 'hex')
  })
  return Buffer.concat(parts)
}

/** Numbers that no valid limit can have written, each with the forms in which they can be written. */
const IMPOSSIBLE: readonly (readonly [Bucket, ...Form[]])[] = [
  [{ n: 0 }, 'short', 'middle', 'long'],
  [{ burst: 0 }, 'short', 'middle', 'long'],
  [{ n: 0, burst: 0 }, 'short', 'middle', 'long'],
  [{ m: 0 }, 'middle', 'long'],
  [{ n: 0, m: 0 }, 'middle', 'long'],
  [{ m: 0, burst: 0 }, 'middle', 'long'],
  [{ rest: 7 }, 'middle', 'long'],
  [{ rest: 8 }, 'middle', 'long'],
  [{ m: 9_007_199_255 }, 'middle', 'long'],
  // Longer than a hundred years to fill.
  [{ n: 1, m: 9_007_199_254, burst: MICRO }, 'middle', 'long'],
  // Last seen after the last instant that a number can say.
  [{ zero: 2 ** 53 - 1, age: 2 }, 'short', 'middle', 'long'],
  // Before 1970, where the top three bits are others.
  [{ zero: -1, n: 0 }, 'short', 'middle', 'long'],
  [{ zero: -1, m: 0, keepFor: 2 ** 52 }, 'long'],
  [{ zero: -(2 ** 53), age: 2 ** 54 }, 'long'],
  [{ n: 0, keepFor: 3_600_000_000 }, 'long'],
  [{ m: 0, keepFor: 3_600_000_000 }, 'long'],
  [{ burst: 0, keepFor: 3_600_000_000 }, 'long'],
  // Tokens, or parts of them, that would pass 2^53.
  [{ n: 2 ** 40, burst: 2 ** 50 }, 'long'],
  [{ n: 2 ** 53 + 8 }, 'long'],
  [{ m: 2 ** 53 + 4 }, 'long'],
  [{ burst: 2 ** 54 }, 'long'],
  [{ rest: 2 ** 53 }, 'long'],
  [{ age: 2 ** 53 }, 'long'],
  // Kept longer than any plan needs.
  [{ keepFor: 3_200_000_000_000_001 }, 'long'],
  [{ keepFor: 2 ** 53 }, 'long'],
]

describe.skipIf(url === undefined)('X7: a bucket that no plan can have left', () => {
  const redis = new Redis(url ?? '', { lazyConnect: true })
  const store = bareRedisStore({ client: ioredis(redis), prefix })
  beforeAll(() => redis.connect())
  afterAll(async () => {
    await redis.quit()
  })
  let made = 0
  const placed = async (bytes: Buffer) => {
    const id = { scope: { text: 'tb:' }, key: `k${(made += 1)}` }
    await redis.set(plainName(prefix, id), bytes, 'PX', 60_000)
    return { id, limit, cost: MICRO, phase: 0 }
  }

  it.each<[Form]>([['short'], ['middle'], ['long']])('one of the %s form that a plan can have left goes on', async (form) => {
    const call = await placed(value(form, {}))
    expect(await verbs.decide(store, [{ calls: [call] }], { now: START })).toMatchObject([{ outcome: 'denied' }])
  })

  it.each(IMPOSSIBLE.flatMap(([bucket, ...forms]) => forms.map((form) => [bucket, form] as const)))(
    '%j in the %s form is not a state: the key is fresh',
    async (bucket, form) => {
      const bytes = value(form, bucket)
      const call = await placed(bytes)
      expect(await verbs.peek(store, [{ calls: [call] }], { now: START })).toMatchObject([
        { outcome: 'allowed', calls: [{ remaining: 10 }] },
      ])
      expect(await verbs.decide(store, [{ calls: [call] }], { now: START })).toMatchObject([
        { outcome: 'allowed', calls: [{ remaining: 9 }] },
      ])
      const other = await placed(bytes)
      await verbs.adjust(store, [other], [-4 * MICRO], { now: START })
      expect(await verbs.peek(store, [{ calls: [other] }], { now: START })).toMatchObject([{ calls: [{ remaining: 6 }] }])
      expect(readValue(await redis.getBuffer(plainName(prefix, other.id))).tag).toBe('tb')
      // If the bytes after a block are not a state, the block does not count either.
      const blocked = await placed(Buffer.concat([Buffer.from('ffffffffffffff', 'hex'), bytes]))
      expect(await verbs.decide(store, [{ calls: [blocked] }], { now: START })).toMatchObject([
        { outcome: 'allowed', calls: [{ remaining: 9 }] },
      ])
    },
  )

  it('one that a plan can have left is read after its block', async () => {
    const call = await placed(Buffer.concat([Buffer.from('ffffffffffffff', 'hex'), value('long', { keepFor: 3_600_000_000 })]))
    expect(await verbs.decide(store, [{ calls: [call] }], { now: START })).toMatchObject([
      { outcome: 'denied', calls: [{ blockedFor: expect.any(Number) }] },
    ])
  })

  it.each([{ keepFor: 2 ** 53 }, { keepFor: 3_200_000_000_000_001 }, { age: 2 ** 53 }])(
    '%j of the same plan is not a state either',
    async (bucket) => {
      const call = await placed(value('long', { ...bucket, ...samePlan() }))
      expect(await verbs.decide(store, [{ calls: [call] }], { now: START })).toMatchObject([
        { outcome: 'allowed', calls: [{ remaining: 9 }] },
      ])
    },
  )
})

/** The numbers of `limit` as they are stored. */
function samePlan(): Pick<Bucket, 'n' | 'm' | 'burst'> {
  const { n, m, burst } = limit.plan
  return { n, m, burst }
}
