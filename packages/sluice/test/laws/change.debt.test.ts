import { describe, expect, it } from 'vitest'
import { type BucketPlan, planOf } from '../../src/algorithms/bucket-plan.ts'
import { MICRO } from '../../src/algorithms/decimal.ts'
import { leasedBucketKernel } from '../../src/algorithms/leased-bucket.ts'
import { type BucketState, tokenBucket, tokenBucketKernel } from '../../src/algorithms/token-bucket.ts'
import { createLimiter } from '../../src/index.ts'
import { memoryStore } from '../../src/stores/memory/memory-store.ts'
import { anyLimit } from '../../src/testing/any-limit.ts'
import { seeded } from '../../src/testing/random.ts'
import { manualClock } from '../../src/time/manual.ts'
import { MAX_MICROS } from '../../src/time/micros.ts'
import { START } from './arbitraries.ts'
import { draws } from '../draws.ts'

const { adopt, adjust, decide, expiresAt } = tokenBucketKernel

/**
 * The exact level of a bucket whose limit refills n micro-tokens in m microseconds: its micro-tokens times m. Below 0 if the bucket owes
 * tokens.
 */
const scaled = ({ zero, rest, plan }: BucketState, now: number): bigint => BigInt(now - zero) * BigInt(plan.n) - BigInt(rest)

describe('X4: debt is carried through a change of limit in full', () => {
  it('one more token of burst forgives nothing: 101 s stay 101 s', async () => {
    const clock = manualClock()
    const store = memoryStore({ clock })
    const limiterOf = (burst: number) => createLimiter({ name: 'api', limit: tokenBucket({ rate: '1/s', burst }), store, clock })
    await limiterOf(100).penalize('k', { cost: 200 })
    expect(await limiterOf(100).check('k')).toMatchObject({ outcome: 'denied', retryAfterMs: 101_000 })
    expect(await limiterOf(101).check('k')).toMatchObject({ outcome: 'denied', retryAfterMs: 101_000 })
    expect(await limiterOf(5).check('k')).toMatchObject({ outcome: 'denied', retryAfterMs: 101_000 })
    expect(await limiterOf(100).check('k')).toMatchObject({ outcome: 'denied', retryAfterMs: 101_000 })
  })

  it('any two limits: what is owed stays, to less than an n-th of a microsecond and never in favour of the key', () => {
    const random = seeded(44)
    let [owing, deep, held] = [0, 0, 0]
    for (let made = 0; made < draws(3_000, 500); made += 1) {
      const [from, to] = [anyLimit('tb', random), anyLimit('tb', random)]
      const before = START + Math.floor(random() * 1_000_000)
      const taken = 1 + Math.floor(random() * 2 * from.plan.burst)
      const state = adjust(from.plan, undefined, before, -taken, 0)
      if (state === undefined) continue
      const now = before + Math.floor(random() ** 8 * from.plan.full.micros)
      const next = adopt(to.plan, state, now, 0)
      if (next === undefined) {
        expect(expiresAt(from.plan, state)).toBeLessThanOrEqual(now)
        continue
      }
      if (next === state) continue
      for (const number of tokenBucketKernel.codec.encodeState(next)) expect(Number.isSafeInteger(number)).toBe(true)
      expect(next.rest >= 0 && next.rest < to.plan.n).toBe(true)
      const [was, is] = [scaled(state, now), scaled(next, now)]
      if (was >= 0n) continue
      owing += 1
      if (was * BigInt(to.plan.m) < -BigInt(to.plan.burst) * BigInt(to.plan.m) * BigInt(from.plan.m)) deep += 1
      if (next.zero === now + MAX_MICROS) {
        // More than flows in within a hundred years is held there.
        expect(was * BigInt(to.plan.m) <= is * BigInt(from.plan.m)).toBe(true)
        held += 1
        continue
      }
      const [left, right] = [was * BigInt(to.plan.m), is * BigInt(from.plan.m)]
      expect(right <= left && right > left - BigInt(from.plan.m)).toBe(true)
      expect(leasedBucketKernel.adopt(to.plan, state, now, 0)).toEqual(next)
    }
    expect(owing).toBeGreaterThan(200)
    expect(deep).toBeGreaterThan(50)
    expect(held).toBeGreaterThan(10)
  })

  it('a debt deeper than the new burst is not lifted by a further penalty, and a refund gives back what it says', () => {
    const [large, small] = [tokenBucket({ rate: '1/s', burst: 100 }).plan, tokenBucket({ rate: '1/s', burst: 10 }).plan]
    const owed = adopt(small, adjust(large, undefined, START, -200 * MICRO, 0) as BucketState, START, 0) as BucketState
    const wait = (state: BucketState | undefined): number => decide(small, state, START, MICRO, 0).retryAfter
    expect(wait(owed)).toBe(101_000_000)
    expect(wait(adjust(small, owed, START, -5 * MICRO, 0))).toBe(101_000_000)
    expect(wait(adjust(small, owed, START, 5 * MICRO, 0))).toBe(96_000_000)
    // One refund gives back two bursts at most.
    expect(wait(adjust(small, owed, START, 500 * MICRO, 0))).toBe(81_000_000)
  })

  it.each([tokenBucketKernel, leasedBucketKernel])(
    'law 7: limits that take turns on a key in debt grant no more than the larger one',
    (kernel) => {
      const random = seeded(46)
      let [owed, granted] = [0, 0]
      for (let made = 0; made < draws(3_000, 500); made += 1) {
        const bursts = [10, 40, 60].map((burst) => burst * MICRO)
        const plans = bursts.map((burst) => planOf(1 + Math.floor(random() * 2), 1, burst))
        const [rate, most] = [Math.max(...plans.map(({ n }) => n)), Math.max(...bursts)]
        let state: BucketState | undefined
        let [now, used, least] = [START, 0, Infinity]
        for (let called = 0; called < 25; called += 1) {
          const plan = plans[Math.floor(random() * plans.length)] as BucketPlan
          now += Math.floor(random() ** 2 * 80 * MICRO)
          // The start that allows the least up to any later instant.
          least = Math.min(least, used - rate * (now - START))
          const known: BucketState | undefined = state && kernel.adopt(plan, state, now, 0)
          const cost = Math.ceil(random() * plan.burst)
          if (random() < 0.3) {
            // As a hold that used more than it was charged.
            const settled = kernel.settle?.(plan, known, now, { held: 0, actual: cost, at: now, mark: 0 }, 0)
            ;[state, used] = [settled?.state, used + (settled?.charged ?? 0)]
            if (state !== undefined && state.zero > now) owed += 1
            continue
          }
          const { remaining } = kernel.view(plan, known, now, 0)
          if (remaining === 0) state = known
          else {
            const step = kernel.decide(plan, known, now, remaining * MICRO, 0)
            expect(step.outcome).toBe('allowed')
            state = { ...step.next }
            used += remaining * MICRO
            granted += 1
            expect(used - rate * (now - START) - least).toBeLessThanOrEqual(most)
          }
        }
      }
      expect(owed).toBeGreaterThan(1_000)
      expect(granted).toBeGreaterThan(5_000)
    },
  )

  it('until 2100 whole numbers carry every debt', () => {
    const random = seeded(45)
    const late = 4_102_444_799_999_999
    for (let made = 0; made < draws(2_000, 300); made += 1) {
      const [from, to] = [anyLimit('tb', random), anyLimit('tb', random)]
      let state = adjust(from.plan, undefined, late, -2 * from.plan.burst, 0) as BucketState
      state = adopt(to.plan, state, late, 0) ?? state
      state = adjust(to.plan, adopt(to.plan, state, late, 0), late, -2 * to.plan.burst, 0) as BucketState
      const { retryAfter } = decide(to.plan, state, late, to.plan.burst, 0)
      for (const number of [expiresAt(to.plan, state), late + retryAfter, state.zero, state.rest])
        expect(Number.isSafeInteger(number)).toBe(true)
    }
  })
})
