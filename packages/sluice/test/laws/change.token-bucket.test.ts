import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { AnyLimit } from '../../src/algorithms/algorithm.ts'
import { applyGroup } from './driver.ts'
import { type BucketState, tokenBucket, tokenBucketKernel } from '../../src/algorithms/token-bucket.ts'
import { audit, type TraceEntry } from '../../src/testing/audit.ts'
import { costOf, type BucketInput, jump, limitOf, limits, SEED, share, START } from './arbitraries.ts'
import { draws } from '../draws.ts'

describe('law 7: a changed limit', () => {
  const old = tokenBucket({ rate: '10/s', burst: 20 })
  const after = (limit: AnyLimit, cost: number, now = START): unknown =>
    applyGroup([undefined], [{ slot: 0, limit, cost }], now).writes[0]?.state

  it.each([
    ['a larger burst is no gift', { rate: '10/s', burst: 100 }, 5],
    ['a smaller burst cuts', { rate: '10/s', burst: 3 }, 3],
    ['a higher rate keeps the level', { rate: '1000/s', burst: 20 }, 5],
    ['a lower rate keeps the level', { rate: '1/day', burst: 20 }, 5],
    ['an odd rate keeps the level', { rate: '7/min', burst: 20 }, 5],
  ])('%s', (_, options, left) => {
    const limit = tokenBucket(options)
    const state = after(old, 15)
    expect(applyGroup([state], [{ slot: 0, limit, cost: left }], START)).toMatchObject({ outcome: 'allowed', calls: [{ remaining: 0 }] })
    const refused = applyGroup([state], [{ slot: 0, limit, cost: left + 0.000001 }], START)
    expect(refused.outcome).not.toBe('allowed')
    expect(refused.writes).toHaveLength(1)
  })

  it('refills at the old rate until the change and at the new one from it on', () => {
    const limit = tokenBucket({ rate: '1/s', burst: 20 })
    const state = after(old, 20)
    const changed = applyGroup([state], [{ slot: 0, limit, cost: 5.5 }], START + 500_000)
    expect(changed).toMatchObject({ outcome: 'denied', calls: [{ remaining: 5, retryAfter: 500_000 }] })
    expect(applyGroup([changed.writes[0]?.state], [{ slot: 0, limit, cost: 6 }], START + 1_500_000).outcome).toBe('allowed')
  })

  /**
   * The exact level of a bucket whose limit refills n micro-tokens in m microseconds: its micro-tokens times m. It is computed before and
   * after the limit changes.
   */
  const scaled = (state: BucketState, now: number): bigint => BigInt(now - state.zero) * BigInt(state.plan.n) - BigInt(state.rest)

  it('is converted to less than an n-th of a microsecond, and never in favour of the key', () => {
    fc.assert(
      fc.property(limits, limits, share, fc.nat(3_000_000), (one, two, part, wait) => {
        const [from, to] = [limitOf(one), limitOf(two)]
        const cost = Math.min(costOf(part, one.burst), Number(one.burst))
        const state = after(from, cost) as BucketState
        const now = START + wait
        const made = tokenBucketKernel.adopt(to.plan, state, now, 0)
        if (made === undefined) return void expect(tokenBucketKernel.expiresAt(from.plan, state)).toBeLessThanOrEqual(now)
        if (made === state) return
        const [was, is] = [scaled(state, now), scaled(made, now)]
        const cut = was >= BigInt(to.plan.burst) * BigInt(from.plan.m)
        const wanted = cut ? BigInt(to.plan.burst) * BigInt(from.plan.m) : was
        // The new level is at most the old one, and less than one n-th of a microsecond's refill below it. That is 1 / m of a micro-token
        // of the new limit.
        const [left, right] = [wanted * BigInt(to.plan.m), is * BigInt(from.plan.m)]
        expect(right <= left && right > left - BigInt(from.plan.m)).toBe(true)
        expect(made.seen).toBe(Math.max(now, state.seen))
        expect(made.rest >= 0 && made.rest < made.plan.n).toBe(true)
      }),
      { seed: SEED, numRuns: draws(3_000, 200) },
    )
  })

  it('remembers the slowest limit that a state has had, through every change', () => {
    const [slow, middle, quick] = [
      tokenBucket({ rate: '1/h', burst: 10 }),
      tokenBucket({ rate: '1/min', burst: 10 }),
      tokenBucket({ rate: '10/s', burst: 10 }),
    ]
    let state = after(slow, 10)
    for (const limit of [middle, quick]) state = applyGroup([state], [{ slot: 0, limit, cost: 10 }], START).writes[0]?.state
    expect((state as BucketState).keepFor).toBe(36_000_000_000)
    const full = START + 35_999_999_999
    expect(applyGroup([state], [{ slot: 0, limit: slow, cost: 10 }], full + 1).outcome).toBe('allowed')
    const late = applyGroup([state], [{ slot: 0, limit: quick, cost: 1 }], full).writes[0]?.state as BucketState
    expect(late.keepFor).toBe(36_000_000_000)
    const gone = applyGroup([state], [{ slot: 0, limit: quick, cost: 1 }], full + 1).writes[0]?.state as BucketState
    expect(gone.keepFor).toBe(0)
  })

  it('mints nothing for a clock that swings while two policies alternate', () => {
    const [hour, second] = [tokenBucket({ rate: '1/h', burst: 1_000 }), tokenBucket({ rate: '1000/s', burst: 1_000 })]
    let state = after(second, 1_000)
    const decide = (limit: AnyLimit, now: number, cost: number) => {
      const result = applyGroup([state], [{ slot: 0, limit, cost }], now)
      state = result.writes[0]?.state ?? state
      return result
    }
    for (let swing = 0; swing < 10; swing += 1) {
      decide(hour, START + 250_000, 1_000)
      decide(second, START, 1_000)
    }
    expect(decide(second, START + 250_000, 251).outcome).toBe('denied')
    expect(decide(second, START + 250_000, 250).outcome).toBe('allowed')
  })

  it('two policies alternating on one key never mint, expired states dropped at once', () => {
    const pair = fc.tuple(limits, limits)
    fc.assert(
      fc.property(pair, fc.array(fc.record({ jump, share, which: fc.boolean() }), { maxLength: 150 }), ([one, two], trace) => {
        const [a, b] = [limitOf(one), limitOf(two)]
        const runs = trace.map((step) => ({ ...step, limit: step.which ? a : b, burst: step.which ? one.burst : two.burst }))
        let state: unknown
        let expiresAt = 0
        let now = START
        const seen: TraceEntry[] = runs.map((step) => {
          now += Math.max(0, step.jump)
          if (now >= expiresAt) state = undefined
          const cost = costOf(step.share, step.burst)
          const result = applyGroup([state], [{ slot: 0, limit: step.limit, cost }], now)
          for (const write of result.writes) ({ state, expiresAt } = write)
          return { at: now, cost, allowed: result.outcome === 'allowed' }
        })
        expect(audit(seen, widest(one, two)).overGrant).toBe(0)
      }),
      { seed: SEED, numRuns: draws(400, 40) },
    )
  })
})

/** A limit with the larger burst and the larger rate of two limits. Calls under both in turn may not get more than this. */
function widest(one: BucketInput, two: BucketInput): AnyLimit {
  const [a, b] = [limitOf(one).plan, limitOf(two).plan]
  const faster = a.n / a.m > b.n / b.m ? a : b
  const envelope = { n: faster.n, m: faster.m, burst: Math.max(a.burst, b.burst) }
  const limit = limitOf(one)
  return { ...limit, algorithm: { ...limit.algorithm, envelope: () => envelope } }
}
