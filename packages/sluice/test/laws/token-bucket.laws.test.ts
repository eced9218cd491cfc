import fc from 'fast-check'
import { audit, type TraceEntry } from '../../src/testing/audit.ts'
import { describe, expect, it } from 'vitest'
import { applyGroup } from '../../src/algorithms/group.ts'
import type { AnyLimit } from '../../src/algorithms/algorithm.ts'
import { toMicroTokens } from '../../src/algorithms/decimal.ts'
import { tokenBucket } from '../../src/algorithms/token-bucket.ts'
import { parseDuration } from '../../src/time/duration.ts'
import { Oracle } from './oracle.ts'

const SEED = 20_261_121
const START = 1_763_692_800_123_456

/** Rates whose interval is whole, is not, is a day, is a microsecond; bursts of one, of many, with decimals. */
const LIMITS = [
  { tokens: '10', per: '1s', burst: '10' },
  { tokens: '3', per: '1s', burst: '1' },
  { tokens: '7', per: '1s', burst: '13' },
  { tokens: '333', per: '1s', burst: '333' },
  { tokens: '100', per: '1min', burst: '20' },
  { tokens: '5000', per: '1h', burst: '5000' },
  { tokens: '1', per: '1d', burst: '1' },
  { tokens: '1000000', per: '1s', burst: '1000000' },
  { tokens: '1234567', per: '1d', burst: '1234567' },
  { tokens: '0.333333', per: '7s', burst: '2.5' },
  { tokens: '333.333333', per: '1s', burst: '10000' },
  { tokens: '0.000001', per: '30s', burst: '0.5' },
  { tokens: '17', per: '1234567us', burst: '99.999999' },
]

const limits = fc.constantFrom(...LIMITS)
/** Jumps forward by nothing, a microsecond, up to a second, a day, years; and backwards. */
const jump = fc.oneof(
  { weight: 6, arbitrary: fc.nat(2_000_000) },
  { weight: 2, arbitrary: fc.nat(3) },
  { weight: 2, arbitrary: fc.nat(86_400_000_000) },
  { weight: 1, arbitrary: fc.constant(0) },
  { weight: 1, arbitrary: fc.nat(5 * 31_557_600_000_000) },
  { weight: 1, arbitrary: fc.nat(2_000_000).map((back) => -back) },
)
const share = fc.oneof(fc.constant('token' as const), fc.constant('burst' as const), fc.double({ min: 0, max: 1.2, noNaN: true }))

function limitOf({ tokens, per, burst }: (typeof LIMITS)[number]) {
  return tokenBucket({ rate: { tokens, per }, burst })
}

function oracleOf({ tokens, per, burst }: (typeof LIMITS)[number]): Oracle {
  return new Oracle({
    micro: BigInt(toMicroTokens(tokens) as number),
    per: BigInt(parseDuration(per)),
    burst: BigInt(toMicroTokens(burst) as number),
  })
}

function costOf(part: 'token' | 'burst' | number, burst: string): number {
  if (part === 'token') return 1
  if (part === 'burst') return Number(burst)
  return Math.max(1, Math.round(part * Number(burst) * 1_000_000)) / 1_000_000
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
  for (const given of LIMITS) {
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
            const { outcome, remaining, retryAfter, resetAfter } = decide(now, cost, step.cleanUp && step.jump >= 0)
            expect({ outcome, remaining, retryAfter, resetAfter }).toEqual(oracle.decide(now, BigInt(toMicroTokens(cost) as number)))
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
      { seed: SEED, numRuns: 400 },
    )
  })
})

/** The envelope of whichever policy allows more, in burst and in rate: what a mixture may not exceed. */
function widest(one: (typeof LIMITS)[number], two: (typeof LIMITS)[number]): AnyLimit {
  const [a, b] = [limitOf(one).plan, limitOf(two).plan]
  const faster = a.n / a.m > b.n / b.m ? a : b
  const envelope = { n: faster.n, m: faster.m, burst: Math.max(a.burst, b.burst) }
  const limit = limitOf(one)
  return { ...limit, algorithm: { ...limit.algorithm, envelope: () => envelope } }
}
