import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { AnyLimit, Envelope } from '../../src/algorithms/algorithm.ts'
import type { Align } from '../../src/algorithms/fixed-window-plan.ts'
import { fixedWindow } from '../../src/algorithms/fixed-window.ts'
import { slidingWindowCounter } from '../../src/algorithms/sliding-window-counter.ts'
import { slidingWindowLog } from '../../src/algorithms/sliding-window-log.ts'
import { audit, type TraceEntry } from '../../src/testing/audit.ts'
import { SEED } from './arbitraries.ts'
import { keyOf } from './changing-key.ts'
import { applyGroup } from './driver.ts'
import { MIDNIGHT } from './traces/trace.ts'
import { draws } from '../draws.ts'

const S = 1_000_000

const KINDS: [string, (limit: number, window: string) => AnyLimit][] = [
  ['fixed window', (limit, window) => fixedWindow({ limit, window })],
  ['fixed window from the first charge', (limit, window) => fixedWindow({ limit, window, align: 'first' })],
  ['sliding window counter', (limit, window) => slidingWindowCounter({ limit, window })],
  ['sliding window log', (limit, window) => slidingWindowLog({ limit, window })],
]

describe.each(KINDS)('law 7 on the %s: a changed limit', (_, make) => {
  it('applies at the first call and keeps what was counted, uncut', () => {
    const key = keyOf()
    const [ten, three, hundred] = [make(10, '1m'), make(3, '1m'), make(100, '1m')]
    expect(key.decide(ten, 0, 8)).toMatchObject({ outcome: 'allowed', remaining: 2 })
    expect(key.decide(three, 1, 1)).toMatchObject({ outcome: 'denied', remaining: 0 })
    expect(key.decide(hundred, 2, 1)).toMatchObject({ outcome: 'allowed', remaining: 91 })
    expect(key.decide(ten, 3, 1)).toMatchObject({ outcome: 'allowed', remaining: 0 })
    expect(key.decide(ten, 4, 1).outcome).toBe('denied')
  })

  it('mints nothing for two limits that take turns', () => {
    const key = keyOf()
    const [small, large] = [make(3, '1m'), make(10, '1m')]
    let admitted = 0
    for (let call = 0; call < 100; call += 1) {
      if (key.decide(call % 2 === 0 ? large : small, call / 10, 1).outcome === 'allowed') admitted += 1
    }
    expect(admitted).toBe(10)
  })
})

/** Any two of these may follow each other on a key. */
const LENGTHS = ['3s', '7s', '10s', '1m', '61s', '1234567us']

describe.each([
  ...KINDS,
  ['fixed window with a ramp', (limit: number, window: string) => fixedWindow({ limit, window, ramp: '1s' })] as const,
])('law 4 on the %s, across a changed window', (_, make) => {
  it('waiting retryAfter is enough, a microsecond less is not', () => {
    const lengths = fc.constantFrom(...LENGTHS)
    const charges = fc.array(fc.record({ wait: fc.nat(20_000_000), cost: fc.nat(4) }), { minLength: 1, maxLength: 12 })
    let denied = 0
    fc.assert(
      fc.property(lengths, lengths, charges, fc.nat(4), (a, b, trace, cost) => {
        const [from, to] = [make(5, a), make(5, b)]
        let state: unknown
        let now = MIDNIGHT
        for (const charge of trace) {
          now += charge.wait
          state = applyGroup([state], [{ slot: 0, limit: from, cost: charge.cost + 1 }], now).writes[0]?.state ?? state
        }
        const call = { slot: 0, limit: to, cost: cost + 1 }
        const result = applyGroup([state], [call], now)
        if (result.outcome !== 'denied') return
        denied += 1
        const wait = result.calls[0]?.retryAfter as number
        const held = result.writes[0]?.state ?? state
        expect(applyGroup([held], [call], now + wait).outcome).toBe('allowed')
        expect(applyGroup([held], [call], now + wait - 1).outcome).toBe('denied')
      }),
      { seed: SEED, numRuns: draws(1_500, 200) },
    )
    expect(denied).toBeGreaterThan(draws(200, 60))
  })
})

/**
 * How much two limits that are called in turn may admit. `one`: the larger burst and the larger rate of the two. `twice`: the same with
 * that burst twice. `both`: the sum of both limits.
 */
type Bound = 'one' | 'twice' | 'both'

function over(limits: readonly AnyLimit[], bound: Bound): AnyLimit {
  const [one, two] = limits.map((limit): Envelope => limit.algorithm.envelope(limit.plan)) as [Envelope, Envelope]
  const faster = one.n * two.m > two.n * one.m ? one : two
  const burst = Math.max(one.burst, two.burst) * (bound === 'twice' ? 2 : 1)
  const both = { n: one.n * two.m + two.n * one.m, m: one.m * two.m, burst: one.burst + two.burst }
  const [limit] = limits as [AnyLimit]
  return { ...limit, algorithm: { ...limit.algorithm, envelope: () => (bound === 'both' ? both : { ...faster, burst }) } }
}

describe('law 7: two policies that take turns on one key', () => {
  const wait = fc.oneof({ weight: 5, arbitrary: fc.nat(3_000) }, { weight: 1, arbitrary: fc.nat(30).map((seconds) => seconds * 1_000) })
  const traces = fc.array(fc.record({ wait, which: fc.boolean(), share: fc.constantFrom(0, 0, 0.5, 1) }), { maxLength: 150, size: 'large' })
  const fixed = (limit: number, window: string, align: Align = 'clock'): AnyLimit => fixedWindow({ limit, window, align })
  const counter = (limit: number, window: string): AnyLimit => slidingWindowCounter({ limit, window })
  const log = (limit: number, window: string): AnyLimit => slidingWindowLog({ limit, window })

  it.each<[string, AnyLimit, AnyLimit, Bound]>([
    ['fixed windows by clock, one dividing the other', fixed(5, '5s'), fixed(8, '20s'), 'one'],
    ['fixed windows from the first charge', fixed(5, '6s', 'first'), fixed(30, '20s', 'first'), 'one'],
    ['fixed windows spread by key', fixed(5, '5s', 'key'), fixed(8, '20s', 'key'), 'both'],
    ['fixed windows that do not divide each other', fixed(5, '6s'), fixed(6, '10s'), 'both'],
    ['counters of one window', counter(5, '10s'), counter(30, '10s'), 'one'],
    ['counters, the longer one slower', counter(5, '5s'), counter(8, '20s'), 'twice'],
    ['counters, the longer one faster', counter(2, '7s'), counter(30, '20s'), 'twice'],
    ['logs, the longer one slower', log(5, '6s'), log(8, '20s'), 'one'],
    ['logs, the longer one faster', log(2, '7s'), log(30, '20s'), 'one'],
  ])('%s: nothing is minted', (_, one, two, bound) => {
    let allowed = 0
    fc.assert(
      fc.property(traces, (trace) => {
        const key = keyOf(99)
        let second = 0
        const seen = trace.map((step): TraceEntry => {
          second += step.wait / 1_000
          const limit = step.which ? one : two
          const cost = Math.max(1, Math.floor(step.share * limit.capacity))
          return { at: MIDNIGHT + Math.round(second * S), cost, allowed: key.decide(limit, second, cost).outcome === 'allowed' }
        })
        allowed += seen.filter((entry) => entry.allowed).length
        expect(audit(seen, over([one, two], bound)).overGrant).toBe(0)
      }),
      { seed: SEED, numRuns: draws(300, 25) },
    )
    expect(allowed).toBeGreaterThan(draws(1_000, 300))
  })
})
