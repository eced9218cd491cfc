import { describe, expect, it } from 'vitest'
import { fixedWindow } from '../../src/algorithms/fixed-window.ts'
import { shareOf } from '../../src/algorithms/share.ts'
import { slidingWindowCounter } from '../../src/algorithms/sliding-window-counter.ts'
import { slidingWindowLog } from '../../src/algorithms/sliding-window-log.ts'
import { tokenBucket } from '../../src/algorithms/token-bucket.ts'
import { audit, type TraceEntry } from '../../src/testing/audit.ts'
import { LIMITS, TENS } from '../../src/testing/limits.ts'
import { seeded } from '../../src/testing/random.ts'
import { phaseOf } from '../../src/limiter/phase.ts'

describe('a part of a limit', () => {
  it.each([
    ['a bucket', tokenBucket({ rate: '9/s', burst: 10 }), tokenBucket({ rate: '3/s', burst: '3.333333' })],
    ['a window', fixedWindow({ limit: 10, window: '1s' }), fixedWindow({ limit: '3.333333', window: '1s' })],
    ['a ramp', fixedWindow({ limit: 30, window: '1m', ramp: '10s' }), fixedWindow({ limit: 10, window: '1m', ramp: '10s' })],
    ['a counter', slidingWindowCounter({ limit: 10, window: '1m' }), slidingWindowCounter({ limit: '3.333333', window: '1m' })],
    ['a log', slidingWindowLog({ limit: 10, window: '1s' }), slidingWindowLog({ limit: '3.333333', window: '1s' })],
  ])('of %s is the limit that one would write', (_, limit, third) => {
    const part = shareOf(limit, 3)
    expect([part?.plan, part?.capacity, part?.phased]).toEqual([third.plan, third.capacity, third.phased])
    expect(shareOf(limit, 1)).toBe(limit)
  })

  it('is none where nothing is left, or whole numbers cannot carry it', () => {
    for (const limit of Object.values(TENS)) expect(shareOf(limit, 10_000_001)).toBeUndefined()
    expect(shareOf(tokenBucket({ rate: '0.000001/1000s', burst: 1 }), 1_000)).toBeUndefined()
    expect(shareOf(fixedWindow({ limit: 999_999, window: '1s', ramp: '999999us' }), 17)).toBeUndefined()
  })

  it('of as many as there are admits together what the limit admits, over every interval', () => {
    const random = seeded(20_261_121)
    for (const limit of LIMITS) {
      for (const count of [2, 3, 7]) {
        const part = shareOf(limit, count)
        if (part === undefined) continue
        const { algorithm, plan } = part
        const seen: TraceEntry[] = []
        const states: unknown[] = Array.from({ length: count })
        const phase = phaseOf(limit, 'k')
        let now = 1_763_692_800_123_456
        for (let call = 0; call < 400; call += 1) {
          now += random() < 0.9 ? Math.floor(random() * 20_000) : Math.floor(random() * 2_000_000)
          const at = Math.floor(random() * count)
          const micro = Math.max(1, Math.round(random() * part.capacity * 300_000))
          const step = algorithm.decide(plan, states[at], now, micro, phase)
          if (step.outcome === 'allowed') states[at] = algorithm.codec.decodeState(algorithm.codec.encodeState(step.state))
          seen.push({ at: now, cost: micro / 1_000_000, allowed: step.outcome === 'allowed' })
        }
        expect(seen.some(({ allowed }) => allowed)).toBe(true)
        expect(audit(seen, limit).overGrant).toBe(0)
      }
    }
  })
})
