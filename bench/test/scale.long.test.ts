import { describe, expect, it } from 'vitest'
import { auditBursts } from '../src/scale/cluster-lanes.ts'
import { compareCosts } from '../src/scale/costs-lanes.ts'
import { slopeOf } from '../src/scale/slope.ts'

describe('a slope', () => {
  it('is 0 for a constant cost, 1 for a proportional one, and 2 for a square', () => {
    const sizes = [1, 10, 100, 1_000]
    const of = (cost: (size: number) => number) => slopeOf(sizes.map((size) => ({ size, cost: cost(size) })))
    expect(of(() => 7)).toMatchObject({ exponent: 0, perTenfold: 1 })
    expect(of((size) => 3 * size).exponent).toBeCloseTo(1, 10)
    expect(of((size) => size ** 2).perTenfold).toBeCloseTo(100, 6)
  })

  it('is nothing for one point, or without a cost', () => {
    for (const points of [
      [],
      [{ size: 1, cost: 1 }],
      [
        { size: 1, cost: 0 },
        { size: 2, cost: 1 },
      ],
    ])
      expect(() => slopeOf(points)).toThrow(/two or more points/)
  })
})

it.each(['keys', 'rules', 'limits'] as const)('every call may pass, and a burst that bites is kept at each size: %s', async (growing) => {
  const { lanes, overGrantPercent } = await compareCosts({ growing, sizes: [1, 12], seconds: 0.01 })
  expect(lanes.map(({ name, calls, allowed }) => [name, calls - allowed])).toEqual([
    ['1', 0],
    ['12', 0],
  ])
  expect(overGrantPercent).toEqual([0, 0])
})

describe('the audit of a cluster', () => {
  /** Buckets of `burst` that are never refilled; every call of the keys in `late` rejects. */
  const buckets = (burst: number, late: readonly string[] = []) => {
    const taken = new Map<string, number>()
    const flight = { now: 0, most: 0 }
    const decide = async (key: string): Promise<boolean> => {
      flight.most = Math.max(flight.most, (flight.now += 1))
      await Promise.resolve()
      flight.now -= 1
      if (late.includes(key)) throw new Error('late')
      taken.set(key, (taken.get(key) ?? 0) + 1)
      return (taken.get(key) ?? 0) <= burst
    }
    return { decide, flight }
  }

  it('says how many passed too many, with at most 64 calls in flight', async () => {
    const exact = buckets(10)
    expect([await auditBursts(exact.decide), await auditBursts(buckets(11).decide)]).toEqual([0, 10])
    expect(exact.flight.most).toBe(64)
  })

  it('an undecided call is no denial: without the bursts there is no audit', async () => {
    expect(await auditBursts(buckets(11, ['0', '1', '2', '3']).decide)).toEqual({
      notAudited: 'only 286 of 300 permitted calls passed; undecided: 160',
    })
  })
})
