import { describe, expect, it } from 'vitest'
import type { AnyLimit } from '../../src/algorithms/algorithm.ts'
import { fixedWindow } from '../../src/algorithms/fixed-window.ts'
import { slidingWindowCounter } from '../../src/algorithms/sliding-window-counter.ts'
import { slidingWindowLog } from '../../src/algorithms/sliding-window-log.ts'
import { tokenBucket } from '../../src/algorithms/token-bucket.ts'
import { audit, type TraceEntry } from '../../src/testing/audit.ts'
import { seeded } from '../../src/testing/random.ts'
import { TABLE } from './cases.ts'
import { MIDNIGHT } from './traces/trace.ts'

const S = 1_000_000

/** Admissions at these seconds, of one token each unless said otherwise. */
function admitted(...entries: (number | [second: number, cost: number])[]): TraceEntry[] {
  return entries.map((entry) => {
    const [second, cost] = typeof entry === 'number' ? [entry, 1] : entry
    return { at: MIDNIGHT + Math.round(second * S), cost, allowed: true }
  })
}

/** Computes the largest over-grant by comparing every pair of admissions, in exact whole numbers. */
function byAllPairs(trace: readonly TraceEntry[], limit: AnyLimit): number {
  const { n, m, burst } = limit.algorithm.envelope(limit.plan)
  const seen = trace.filter(({ allowed }) => allowed).sort((a, b) => a.at - b.at)
  let worst = 0n
  for (let from = 0; from < seen.length; from += 1) {
    let sum = 0n
    for (let to = from; to < seen.length; to += 1) {
      sum += BigInt(Math.round((seen[to]?.cost as number) * S))
      const span = BigInt((seen[to]?.at as number) - (seen[from]?.at as number))
      const over = (sum - BigInt(burst)) * BigInt(m) - BigInt(n) * span
      if (over > worst) worst = over
    }
  }
  return Number(worst) / m / S
}

describe.each(TABLE)('the audit of a %s', (_, { ten, tag }) => {
  const limit = ten()
  const burst = tag === 'fw' ? 20 : 10

  it('finds nothing where nothing or just enough was admitted', () => {
    expect(audit([], limit)).toMatchObject({ overGrant: 0, overGrantPercent: 0, admitted: 0 })
    expect(audit(admitted([0, burst]), limit).overGrant).toBe(0)
    expect(audit(admitted([0, burst], [1, 10]), limit)).toMatchObject({ overGrant: 0 })
    expect(audit([{ at: MIDNIGHT, cost: 1_000, allowed: false }], limit).overGrant).toBe(0)
  })

  it('finds a micro-token too much, and where', () => {
    expect(audit(admitted([0, burst], [0, 0.000001]), limit).overGrant).toBe(0.000001)
    const found = audit(admitted([0, 1], [30, burst], [30.25, 5]), limit)
    expect(found).toMatchObject({
      overGrant: 2.5,
      from: MIDNIGHT + 30 * S,
      to: MIDNIGHT + 30.25 * S,
      admitted: burst + 5,
      permitted: burst + 2.5,
    })
    expect(found.overGrantPercent).toBeCloseTo((2.5 / (burst + 2.5)) * 100, 9)
  })

  it('takes entries in any order, and is what looking at every pair finds', () => {
    const random = seeded(3)
    for (let round = 0; round < 200; round += 1) {
      const trace = Array.from({ length: 1 + Math.floor(random() * 30) }, (): TraceEntry => {
        return {
          at: MIDNIGHT + Math.floor(random() * 3 * S),
          cost: (1 + Math.floor(random() * 30_000_000 * random())) / S,
          allowed: random() < 0.8,
        }
      })
      expect(audit(trace, limit).overGrant).toBe(byAllPairs(trace, limit))
    }
  })

  it('refuses an admitted cost that is not one', () => {
    expect(() => audit([{ at: MIDNIGHT, cost: Number.NaN, allowed: true }], limit)).toThrow(/^cost is NaN, expected a number above 0/)
  })
})

/** Gets a time in microseconds, and returns whether a call of one token passes then. */
type Limiter = (now: number) => boolean

/** A counter in one window after the other, from 1970 on. */
function fixed(most: number, window: number): Limiter {
  let [count, number] = [0, 0]
  return (now) => {
    const current = Math.floor(now / window)
    if (current !== number) [count, number] = [0, current]
    if (count >= most) return false
    count += 1
    return true
  }
}

/**
 * Wrong limiters. Each row has the limit that it claims to be, and a function that makes it. `everyMs` is the time between two calls,
 * `beginMs` the time before the first one, and `least` the least over-grant.
 */
const MISTAKES: readonly [name: string, limit: AnyLimit, limiter: () => Limiter, everyMs: number, beginMs: number, least: number][] = [
  ['a fixed window taken for a sliding log', slidingWindowLog({ limit: 10, window: '1s' }), () => fixed(10, S), 20, 800, 5],
  ['a fixed window taken for a sliding counter', slidingWindowCounter({ limit: 10, window: '1s' }), () => fixed(10, S), 20, 800, 5],
  ['a fixed window taken for a bucket', tokenBucket({ rate: '10/s', burst: 10 }), () => fixed(10, S), 20, 800, 5],
  ['a fixed window that lets one more pass', fixedWindow({ limit: 10, window: '1s' }), () => fixed(11, S), 5, 900, 1],
  ['a fixed window of half the length', fixedWindow({ limit: 10, window: '1s' }), () => fixed(10, 0.5 * S), 10, 0, 20],
  [
    'a sliding counter that rounds the weight of the previous window down to tenths',
    slidingWindowCounter({ limit: 100, window: '1s' }),
    () => {
      const counts = new Map<number, number>()
      return (now) => {
        const number = Math.floor(now / S)
        const weight = Math.floor((1 - (now % S) / S) * 10) / 10
        const used = (counts.get(number) ?? 0) + (counts.get(number - 1) ?? 0) * weight
        if (used + 1 > 100) return false
        counts.set(number, (counts.get(number) ?? 0) + 1)
        return true
      }
    },
    0.1,
    990,
    5,
  ],
  [
    'a sliding log that forgets a hundredth too early',
    slidingWindowLog({ limit: 10, window: '1s' }),
    () => {
      let entries: number[] = []
      return (now) => {
        entries = entries.filter((at) => at > now - 0.99 * S)
        if (entries.length >= 10) return false
        entries.push(now)
        return true
      }
    },
    5,
    0,
    0.05,
  ],
]

describe('the audit distinguishes a wrong window from a right one', () => {
  const times = (everyMs: number, beginMs: number): number[] =>
    Array.from({ length: 6_000 / everyMs }, (_, index) => MIDNIGHT + (beginMs + index * everyMs) * 1_000)

  it.each(MISTAKES)('%s is caught', (_, limit, make, everyMs, beginMs, least) => {
    const limiter = make()
    const trace = times(everyMs, beginMs).map((at) => ({ at, cost: 1, allowed: limiter(at) }))
    expect(audit(trace, limit).overGrant).toBeGreaterThanOrEqual(least)
  })

  it.each(MISTAKES)('the kernel called as %s is not', (_, limit, _make, everyMs, beginMs) => {
    const { algorithm, plan } = limit
    let state: unknown
    const trace = times(everyMs, beginMs).map((at) => {
      const step = algorithm.decide(plan, state, at, S, 0)
      if (step.outcome === 'allowed') state = algorithm.codec.decodeState(algorithm.codec.encodeState(step.next))
      return { at, cost: 1, allowed: step.outcome === 'allowed' }
    })
    expect(audit(trace, limit).overGrant).toBe(0)
    expect(trace.filter(({ allowed }) => allowed).length).toBeGreaterThanOrEqual(limit.capacity)
  })
})
