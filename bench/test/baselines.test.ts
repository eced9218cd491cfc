import { describe, expect, it } from 'vitest'
import { BareTable } from '../src/baselines/bare-table.ts'
import { AsyncPlainBuckets, PlainBuckets } from '../src/baselines/plain-buckets.ts'
import { keysOf } from '../src/memory/many-keys.ts'
import { collisionBound } from '../src/memory/keys.ts'
import { randomOrder } from '../src/random-order.ts'

const PER_DAY = 1 / 86_400

describe('the baselines are limiters', () => {
  it.each([
    ['the Map', () => new PlainBuckets(PER_DAY, 3)],
    ['the bare table', () => new BareTable(10, PER_DAY, 3)],
  ])('%s: three of a burst of three, then none, each key for itself', (_, make) => {
    const buckets = make()
    const answers = ['a', 'b', 'a', 'a', 'a', 'b'].map((key) => buckets.check(key))
    expect(answers.map(({ allowed, remaining }) => [allowed, remaining])).toEqual([
      [true, 2],
      [true, 2],
      [true, 1],
      [true, 0],
      [false, 0],
      [true, 1],
    ])
    expect(answers[4]?.retryAfterMs).toBeGreaterThan(86_000_000)
    expect(answers[4]?.retryAfterMs).toBeLessThanOrEqual(86_400_000)
  })

  it('the Map gives tokens back at its rate', () => {
    const buckets = new PlainBuckets(1_000, 1)
    expect(buckets.check('a').allowed).toBe(true)
    const until = performance.now() + 2
    while (performance.now() < until);
    expect(buckets.check('a').allowed).toBe(true)
  })

  it('behind two asynchronous layers the Map answers the same', async () => {
    const caller = new AsyncPlainBuckets(new PlainBuckets(PER_DAY, 1))
    expect([await caller.check('a'), await caller.check('a')]).toMatchObject([{ allowed: true }, { allowed: false }])
  })

  it('the bare table mistakes no key for another, full as it gets', () => {
    const table = new BareTable(20_000, PER_DAY, 1)
    const keys = keysOf(20_000)
    expect(keys.filter((key) => table.check(key).allowed)).toHaveLength(20_000)
    expect(keys.filter((key) => table.check(key).allowed)).toHaveLength(0)
  })
})

describe('the order of keys', () => {
  it('is the same each time, within its bounds, and reaches nearly all that as many draws can', () => {
    const order = randomOrder(10_000, 1_000, 7)
    expect(order).toEqual(randomOrder(10_000, 1_000, 7))
    expect(order).not.toEqual(randomOrder(10_000, 1_000, 8))
    expect(Math.max(...order)).toBe(999)
    expect(new Set(order).size).toBe(1_000)
  })

  it('refuses the seed that xorshift stays at', () => {
    expect(() => randomOrder(1, 1, 0)).toThrow('seed of 0')
  })

  it('collisions: half the square of the keys over the digests', () => {
    expect(collisionBound(1_000_000)).toBeCloseTo(2.71e-8, 10)
    expect(collisionBound(2 ** 32)).toBe(0.5)
  })
})
