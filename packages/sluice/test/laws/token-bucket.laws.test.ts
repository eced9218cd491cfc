import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { AnyLimit } from '../../src/algorithms/algorithm.ts'
import { toMicroTokens } from '../../src/algorithms/decimal.ts'
import { applyGroup } from './driver.ts'
import { tokenBucket } from '../../src/algorithms/token-bucket.ts'
import { audit, type TraceEntry } from '../../src/testing/audit.ts'
import { parseDuration } from '../../src/time/duration.ts'
import { costOf, type Given, jump, limitOf, BUCKETS, limits, SEED, share, START } from './arbitraries.ts'
import { BucketOracle } from './oracles/token-bucket.ts'

function oracleOf({ tokens, per, burst }: Given): BucketOracle {
  return new BucketOracle({
    micro: BigInt(toMicroTokens(tokens) as number),
    per: BigInt(parseDuration(per)),
    burst: BigInt(toMicroTokens(burst) as number),
  })
}

/** Decides one call on one state with the driver, as every store does, honouring the time to live. */
function runner(limit: AnyLimit) {
  let state: unknown
  let expiresAt = 0
  return (now: number, cost: number, cleanUp: boolean) => {
    if (cleanUp && now >= expiresAt) state = undefined
    const result = applyGroup([state], [{ slot: 0, limit, cost }], now)
    for (const write of result.writes) ({ state, expiresAt } = write)
    const [call] = result.calls
    return { ...(call as NonNullable<typeof call>), writes: result.writes.length }
  }
}

describe('token bucket against exact rationals', () => {
  for (const given of BUCKETS) {
    it(`decides ${given.tokens} per ${given.per}, burst ${given.burst} like the oracle, expired states dropped or not`, () => {
      const steps = fc.array(fc.record({ jump, share, cleanUp: fc.boolean() }), { minLength: 1, maxLength: 120 })
      fc.assert(
        fc.property(steps, (trace) => {
          const decide = runner(limitOf(given))
          const oracle = oracleOf(given)
          let now = START
          for (const step of trace) {
            now += step.jump
            const cost = costOf(step.share, given.burst)
            const { outcome, remaining, retryAfter, replenishAfter, resetAfter } = decide(now, cost, step.cleanUp && step.jump >= 0)
            expect({ outcome, remaining, retryAfter, replenishAfter, resetAfter }).toEqual(
              oracle.decide(now, BigInt(toMicroTokens(cost) as number)),
            )
          }
        }),
        { seed: SEED, numRuns: 120 },
      )
    })
  }
})

describe('the laws, on the token bucket', () => {
  it('law 1: a denied group consumes nothing, of no limit, and the same state twice is seen in order', () => {
    const wide = tokenBucket({ rate: '1/s', burst: 10 })
    const narrow = tokenBucket({ rate: '1/s', burst: 1 })
    const spent = applyGroup([undefined], [{ slot: 0, limit: narrow, cost: 1 }], START).writes[0]?.state
    const denied = applyGroup(
      [undefined, spent],
      [
        { slot: 0, limit: wide, cost: 5 },
        { slot: 1, limit: narrow, cost: 1 },
      ],
      START,
    )
    expect(denied).toMatchObject({
      outcome: 'denied',
      writes: [],
      calls: [
        { outcome: 'allowed', remaining: 10 },
        { outcome: 'denied', remaining: 0 },
      ],
    })
    const twice = applyGroup(
      [undefined],
      [
        { slot: 0, limit: wide, cost: 6 },
        { slot: 0, limit: wide, cost: 6 },
      ],
      START,
    )
    expect(twice).toMatchObject({ outcome: 'impossible', writes: [] })
    const both = applyGroup(
      [undefined],
      [
        { slot: 0, limit: wide, cost: 4 },
        { slot: 0, limit: wide, cost: 6 },
      ],
      START,
    )
    expect(both).toMatchObject({ outcome: 'allowed', calls: [{ remaining: 6 }, { remaining: 0 }] })
    expect(both.writes).toHaveLength(1)
    const thrice = [1, 1, 1].map((cost) => ({ slot: 0, limit: tokenBucket({ rate: '1/s', burst: 2 }), cost }))
    expect(applyGroup([undefined], thrice, START).outcome).toBe('impossible')
    const spentOne = applyGroup([undefined], [{ slot: 0, limit: wide, cost: 8 }], START).writes[0]?.state
    const three = [1, 1, 1].map((cost) => ({ slot: 0, limit: wide, cost }))
    expect(applyGroup([spentOne], three, START)).toMatchObject({
      outcome: 'denied',
      calls: [{ outcome: 'allowed' }, { outcome: 'allowed' }, { retryAfter: 1_000_000 }],
    })
    const tenths = [0.1, 0.2].map((cost) => ({ slot: 0, limit: tokenBucket({ rate: '1/s', burst: '0.3' }), cost }))
    expect(applyGroup([undefined], tenths, START).outcome).toBe('allowed')
  })

  it('law 2: a cost above the capacity is impossible and touches nothing', () => {
    const decide = runner(tokenBucket({ rate: '10/s', burst: 10 }))
    expect(decide(START, 10.000001, false)).toMatchObject({ outcome: 'impossible', retryAfter: 0, remaining: 10, writes: 0 })
  })

  it('law 3: running backwards mints nothing and locks for no longer than the step', () => {
    const decide = runner(tokenBucket({ rate: '10/s', burst: 10 }))
    decide(START, 5, false)
    expect(decide(START - 1_000_000, 1, false)).toMatchObject({ outcome: 'allowed', remaining: 4 })
    expect(decide(START - 1_000_000, 5, false)).toMatchObject({ outcome: 'denied', retryAfter: 1_100_000 })
    expect(decide(START, 4, false)).toMatchObject({ outcome: 'allowed', remaining: 0 })
  })

  it('law 4: waiting retryAfter is enough, a microsecond less is not', () => {
    fc.assert(
      fc.property(limits, fc.array(fc.record({ jump, share }), { minLength: 1, maxLength: 20 }), (given, trace) => {
        const limit = limitOf(given)
        let now = START
        let state: unknown
        for (const step of trace) {
          now += Math.max(0, step.jump)
          const cost = costOf(step.share, given.burst)
          const call = { slot: 0, limit, cost }
          const result = applyGroup([state], [call], now)
          if (result.outcome === 'denied') {
            const wait = result.calls[0]?.retryAfter as number
            expect(applyGroup([state], [call], now + wait).outcome).toBe('allowed')
            expect(applyGroup([state], [call], now + wait - 1).outcome).toBe('denied')
          }
          state = result.writes[0]?.state ?? state
        }
      }),
      { seed: SEED, numRuns: 300 },
    )
  })

  it('law 5: no interval admits more than burst + rate * t', () => {
    fc.assert(
      fc.property(limits, fc.array(fc.record({ jump, share }), { minLength: 1, maxLength: 200 }), (given, trace) => {
        const limit = limitOf(given)
        const decide = runner(limit)
        let now = START
        let latest = START
        const seen: TraceEntry[] = trace.map((step) => {
          now += step.jump
          latest = Math.max(latest, now)
          const cost = costOf(step.share, given.burst)
          return { at: latest, cost, allowed: decide(now, cost, false).outcome === 'allowed' }
        })
        expect(audit(seen, limit).overGrant).toBe(0)
      }),
      { seed: SEED, numRuns: 200 },
    )
  })

  it('law 6: a state decides like none from its expiry on, and not a microsecond before', () => {
    fc.assert(
      fc.property(limits, share, (given, part) => {
        const limit = limitOf(given)
        const cost = Math.min(costOf(part, given.burst), Number(given.burst))
        const [write] = applyGroup([undefined], [{ slot: 0, limit, cost }], START).writes
        const { state, expiresAt } = write as NonNullable<typeof write>
        const whole = { slot: 0, limit, cost: Number(given.burst) }
        expect(applyGroup([state], [whole], expiresAt)).toEqual(applyGroup([undefined], [whole], expiresAt))
        expect(applyGroup([state], [whole], expiresAt - 1).outcome).toBe('denied')
      }),
      { seed: SEED, numRuns: 500 },
    )
  })
})
