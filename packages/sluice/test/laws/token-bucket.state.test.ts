import { describe, expect, it } from 'vitest'
import { tokenBucket } from '../../src/index.ts'
import type { BucketState } from '../../src/algorithms/token-bucket.ts'
import { seeded } from '../../src/testing/random.ts'
import { START } from './arbitraries.ts'

describe('the state of a bucket', () => {
  it.each(['3/s', '7/s', '333/s', '0.333333/7s', '10/s', '1234567/d'])('of %s has a rest below n, whatever was charged', (rate) => {
    const { algorithm, plan } = tokenBucket({ rate, burst: 50 })
    const random = seeded(7)
    let state: BucketState | undefined
    let now = START
    for (let index = 0; index < 5_000; index += 1) {
      now += Math.floor(random() * 400_000)
      const cost = random() < 0.5 ? 1_000_000 : 1 + Math.floor(random() * 3_000_000)
      const step = algorithm.decide(plan, state, now, cost, 0)
      state = step.state
      if (state !== undefined) expect(state.rest >= 0 && state.rest < plan.n).toBe(true)
    }
  })

  it('is adjusted at the latest time that it has seen, not at an earlier one', () => {
    const { algorithm, plan } = tokenBucket({ rate: '10/s', burst: 10 })
    const { state } = algorithm.decide(plan, undefined, START, 10_000_000, 0)
    const early = algorithm.adjust(plan, state, START - 500_000, -1_000_000, 0)
    expect(early?.seen).toBe(START)
    expect(algorithm.view(plan, early, START, 0).resetAfter).toBe(1_100_000)
    const back = algorithm.adjust(plan, state, START - 500_000, 4_000_000, 0)
    expect(algorithm.view(plan, back, START, 0)).toMatchObject({ remaining: 4, resetAfter: 600_000 })
  })

  it('is refused by name where the rate is too slow for whole numbers', () => {
    expect(() => tokenBucket({ rate: '0.000001/3h', burst: 1 })).toThrow(/the slowest takes about 285 years/)
  })
})

describe('keepFor of a bucket whose plan has changed', () => {
  const slow = tokenBucket({ rate: '1/h', burst: 10 })
  const fast = tokenBucket({ rate: '3/s', burst: 2 })
  const { algorithm } = slow
  const HOUR = 3_600_000_000

  it('is as long as the longest plan takes to fill, rounded up', () => {
    const charged = algorithm.decide(fast.plan, undefined, START, 2_000_000, 0).state as BucketState
    // Two thirds of a second.
    expect(algorithm.adopt(slow.plan, charged, START, 0)?.keepFor).toBe(666_667)
    const back = algorithm.adopt(fast.plan, algorithm.decide(slow.plan, undefined, START, 1_000_000, 0).state as BucketState, START, 0)
    expect(back?.keepFor).toBe(10 * HOUR)
  })

  it('stays with a bucket that is full again, and ends when it has passed', () => {
    const charged = algorithm.decide(slow.plan, undefined, START, 1_000_000, 0).state as BucketState
    const changed = algorithm.adopt(fast.plan, charged, START, 0) as BucketState
    const full = algorithm.decide(fast.plan, changed, START, 1_000_000, 0).state as BucketState
    expect([full.keepFor, full.seen]).toEqual([10 * HOUR, START])
    const keepForAt = (now: number): number | undefined => algorithm.adjust(fast.plan, full, now, -1_000_000, 0)?.keepFor
    expect([START + HOUR, START + 10 * HOUR - 1, START + 10 * HOUR].map(keepForAt)).toEqual([10 * HOUR, 10 * HOUR, 0])
    const plain = algorithm.decide(fast.plan, undefined, START, 1_000_000, 0).state as BucketState
    expect(algorithm.adjust(fast.plan, plain, START + HOUR, -1_000_000, 0)?.keepFor).toBe(0)
  })
})
