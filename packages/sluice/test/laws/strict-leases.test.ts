import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { AnyLimit } from '../../src/algorithms/algorithm.ts'
import type { BucketPlan } from '../../src/algorithms/bucket-plan.ts'
import { grantLease, leasedBucketKernel as kernel } from '../../src/algorithms/leased-bucket.ts'
import { tokenBucket } from '../../src/algorithms/token-bucket.ts'
import { audit } from '../../src/testing/audit.ts'
import { SEED, START } from './arbitraries.ts'
import { type Event, Holders, outstanding } from './lease-holders.ts'
import { draws } from '../draws.ts'

const S = 1_000_000
const T = 1_000_000

const unit = fc.nat(999_999).map((part) => part / 1_000_000)
const events: fc.Arbitrary<Event> = fc.record({
  kind: fc.constantFrom('send', 'deliver', 'answer', 'spend', 'spend', 'consume', 'round', 'round', 'round', 'penalize'),
  jump: fc.oneof(
    { weight: 5, arbitrary: fc.nat(200_000) },
    { weight: 5, arbitrary: fc.nat(3) },
    { weight: 1, arbitrary: fc.nat(9_000_000) },
  ),
  who: unit,
  part: unit,
  other: unit,
  duplicate: fc.boolean(),
  limit: fc.nat(1),
})
/** Buckets that fill within the times above. */
const QUICK = ['10/s 10', '3/s 1', '7/s 13', '333/s 333', '1000000/s 1000000', '333.333333/s 100', '0.333333/1s 2.5'].map((text) => {
  const [rate = '', burst = ''] = text.split(' ')
  return tokenBucket({ rate, burst })
})
const quick = fc.constantFrom(...QUICK)
const run = (given: readonly AnyLimit[], trace: readonly Event[], each: (holders: Holders) => void = () => {}): Holders => {
  const holders = new Holders(given, START)
  for (const event of trace) {
    holders.run(event)
    each(holders)
  }
  return holders
}

describe('strict leases over a wire that loses, delays, repeats and reorders', () => {
  it('law 5: whoever spends what when, no interval admits more than burst + rate * length', () => {
    let [leased, all] = [0, 0]
    fc.assert(
      fc.property(quick, fc.array(events, { minLength: 20, maxLength: 250 }), (limit, trace) => {
        const holders = run([limit], trace)
        expect(audit(holders.seen, limit).overGrant).toBe(0)
        if (holders.leased > 0) leased += 1
        all += 1
      }),
      { seed: SEED, numRuns: draws(1_500, 150) },
    )
    expect(leased).toBeGreaterThan(all / 2)
  })

  it('what is in the bucket and what is out is never above the burst, and holders have no more than is out', () => {
    fc.assert(
      fc.property(quick, fc.array(events, { minLength: 20, maxLength: 150 }), (limit, trace) => {
        const { burst } = limit.plan
        run([limit], trace, ({ state, now, leasedTokens }) => {
          if (state === undefined) return void expect(leasedTokens).toBe(0)
          const out = outstanding(state, now)
          expect(leasedTokens).toBeLessThanOrEqual(out)
          expect(kernel.decide(limit.plan, state, now, burst - out + 1, 0).outcome).not.toBe('allowed')
        })
      }),
      { seed: SEED, numRuns: draws(300, 60) },
    )
  })

  it('law 7: two policies that take turns mint nothing, whatever is out', () => {
    fc.assert(
      fc.property(quick, quick, fc.array(events, { minLength: 20, maxLength: 200 }), (one, two, trace) => {
        const [a, b]: [BucketPlan, BucketPlan] = [one.plan, two.plan]
        const faster = a.n / a.m > b.n / b.m ? a : b
        const envelope = { n: faster.n, m: faster.m, burst: Math.max(a.burst, b.burst) }
        const widest: AnyLimit = { ...one, algorithm: { ...one.algorithm, envelope: () => envelope } }
        expect(audit(run([one, two], trace).seen, widest).overGrant).toBe(0)
      }),
      { seed: SEED, numRuns: draws(800, 80) },
    )
  })

  it('decides as exact arithmetic does', () => {
    fc.assert(
      fc.property(quick, fc.array(events, { minLength: 5, maxLength: 100 }), unit, fc.nat(5 * S), ({ plan }, trace, part, wait) => {
        const { state, now } = run([{ ...QUICK[0], plan } as AnyLimit], trace)
        if (state === undefined) return
        const at = now + wait
        // Micro-tokens times m, so that the rate is whole.
        const [n, m] = [BigInt(plan.n), BigInt(plan.m)]
        let level = BigInt(state.seen - state.zero) * n - BigInt(state.rest)
        let time = state.seen
        let out = BigInt(outstanding(state, 0))
        const flow = (until: number): void => {
          const cap = (BigInt(plan.burst) - out) * m
          level = level + BigInt(until - time) * n
          if (level > cap) level = cap
          time = until
        }
        for (const { until, amount } of state.leases ?? []) {
          if (until > at) break
          flow(until)
          out -= BigInt(amount)
        }
        flow(at)
        const cost = Math.max(1, Math.ceil(part * 1.1 * plan.burst))
        const { outcome, remaining } = kernel.decide(plan, state, at, cost, 0)
        expect(outcome === 'allowed').toBe(level >= BigInt(cost) * m)
        if (outcome !== 'allowed') expect(remaining).toBe(Math.max(0, Number(level / m / 1_000_000n)))
        const { granted } = grantLease(plan, state, at, {
          holder: 9,
          sequence: 1,
          cost: 1,
          want: 2 * plan.burst,
          life: S,
          kept: 0,
          returned: 0,
        })
        expect(granted).toBe(Math.max(0, Number(level / m)))
      }),
      { seed: SEED, numRuns: draws(1_500, 150) },
    )
  })

  it('law 4: waiting retryAfter is enough and a microsecond less is not; law 6: a state that has expired equals the initial state', () => {
    fc.assert(
      fc.property(quick, fc.array(events, { minLength: 5, maxLength: 100 }), unit, ({ plan }, trace, part) => {
        const { state, now } = run([{ ...QUICK[0], plan } as AnyLimit], trace)
        if (state === undefined) return
        const cost = Math.ceil(part * plan.burst) + 1
        const { outcome, retryAfter } = kernel.decide(plan, state, now, cost, 0)
        if (outcome === 'denied') {
          expect(kernel.decide(plan, state, now + retryAfter, cost, 0).outcome).toBe('allowed')
          expect(kernel.decide(plan, state, now + retryAfter - 1, cost, 0).outcome).toBe('denied')
        }
        const { remaining, replenishAfter, resetAfter } = kernel.view(plan, state, now, 0)
        const more = (remaining + 1) * T
        if (more <= plan.burst) {
          expect(kernel.decide(plan, state, now + replenishAfter, more, 0).outcome).toBe('allowed')
          expect(kernel.decide(plan, state, now + replenishAfter - 1, more, 0).outcome).toBe('denied')
        }
        const end = kernel.expiresAt(plan, state)
        expect(kernel.decide(plan, state, end, plan.burst, 0)).toMatchObject({ outcome: 'allowed', remaining: 0 })
        if (resetAfter > 0) expect(kernel.decide(plan, state, now + resetAfter - 1, plan.burst, 0).outcome).toBe('denied')
      }),
      { seed: SEED, numRuns: draws(1_500, 150) },
    )
  })

  it('a state is its numbers', () => {
    fc.assert(
      fc.property(quick, fc.array(events, { maxLength: 60 }), (limit, trace) => {
        const { state } = run([limit], trace)
        if (state !== undefined) expect(kernel.codec.decodeState(kernel.codec.encodeState(state))).toEqual(state)
      }),
      { seed: SEED, numRuns: draws(200, 60) },
    )
  })
})
