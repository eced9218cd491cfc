import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { AnyLimit, CompiledLimit } from '../../src/algorithms/algorithm.ts'
import type { LogState } from '../../src/algorithms/log-state.ts'
import { type CounterState, slidingWindowCounter, slidingWindowCounterKernel } from '../../src/algorithms/sliding-window-counter.ts'
import { type LogPlan, slidingWindowLog, slidingWindowLogKernel } from '../../src/algorithms/sliding-window-log.ts'
import { SEED } from './arbitraries.ts'
import { keyOf } from './changing-key.ts'
import { MIDNIGHT } from './traces/trace.ts'
import { draws } from '../draws.ts'

const S = 1_000_000

describe('law 7 on the sliding window counter: a changed window', () => {
  const [short, long] = [slidingWindowCounter({ limit: 10, window: '10s' }), slidingWindowCounter({ limit: 10, window: '1m' })]

  it('is longer from the start of the one that runs, which keeps what both have counted', () => {
    const key = keyOf()
    key.decide(short, 15, 6)
    key.decide(short, 25, 4)
    expect(key.decide(long, 25, 1)).toMatchObject({ outcome: 'denied', remaining: 0, written: 1 })
    expect(key.state).toMatchObject({ end: MIDNIGHT + 80 * S, current: 4 * S, previous: 6 * S, window: 60 * S })
    expect(key.decide(long, 50, 3)).toMatchObject({ outcome: 'allowed', remaining: 0 })
  })

  it('lets a longer one run to its end, and another one after it, in which the longer plan may be called', () => {
    const key = keyOf()
    key.decide(long, 30, 9)
    expect(key.decide(short, 40, 1)).toMatchObject({ outcome: 'allowed', remaining: 0 })
    expect(key.decide(short, 50, 1)).toMatchObject({ outcome: 'denied', retry: 16, written: 0 })
    expect(key.decide(short, 65.999999, 1)).toMatchObject({ outcome: 'denied', written: 1 })
    expect(key.state).toMatchObject({ end: MIDNIGHT + 120 * S, previous: 10 * S, current: 0, window: 60 * S, absent: 1 })
    expect(key.decide(short, 66, 1).outcome).toBe('allowed')
    expect(key.decide(long, 90, 4).outcome).toBe('allowed')
    expect(key.state).toMatchObject({ end: MIDNIGHT + 120 * S, previous: 10 * S, current: 5 * S, window: 60 * S, absent: 0 })
    expect(key.decide(long, 90, 1).outcome).toBe('denied')
  })

  it('begins the shorter ones where the longer plan was not called in a whole window', () => {
    const seven = slidingWindowCounter({ limit: 10, window: '7s' })
    const key = keyOf()
    key.decide(long, 30, 10)
    expect(key.decide(seven, 31, 1)).toMatchObject({ outcome: 'denied', retry: 35 })
    expect(key.decide(seven, 66, 1)).toMatchObject({ outcome: 'allowed', written: 1 })
    expect(key.decide(seven, 119, 8)).toMatchObject({ outcome: 'allowed', remaining: 0 })
    expect(key.decide(seven, 120, 2)).toMatchObject({ outcome: 'denied', retry: 0.777778, written: 1 })
    expect(key.decide(seven, 120.777778, 2).outcome).toBe('allowed')
    expect(key.state).toMatchObject({ end: MIDNIGHT + 127 * S, window: 7 * S, absent: 0 })
  })

  it('never counts less than before, at any later instant', () => {
    const lengths = fc.constantFrom('3s', '10s', '1m', '61s', '7m', '1234567us')
    fc.assert(
      fc.property(
        lengths,
        lengths,
        fc.nat(10_000_000),
        fc.nat(10_000_000),
        fc.nat(200_000_000),
        fc.nat(200_000_000),
        (a, b, current, previous, at, wait) => {
          const [from, to] = [slidingWindowCounter({ limit: 10, window: a }), slidingWindowCounter({ limit: 10, window: b })]
          const now = MIDNIGHT + at
          const length = from.plan.window
          const state = { end: (Math.floor(now / length) + 1) * length, current, previous, window: length, absent: 0 }
          const made = slidingWindowCounterKernel.adopt(to.plan, state, now, 0)
          for (const time of [now, now + wait, state.end, state.end + Math.floor(wait / 20), made?.end ?? now]) {
            // What counts before and after the change, as exact fractions of a micro-token.
            const was = countedAt(state, time)
            const is = made === undefined ? { sum: 0n, of: 1n } : countedAt(made, time)
            if (time >= now) expect(is.sum * was.of >= was.sum * is.of).toBe(true)
          }
        },
      ),
      { seed: SEED, numRuns: draws(3_000, 150) },
    )
  })

  /** Micro-tokens that a state counts for, exactly: `sum / of`. */
  function countedAt({ end, current, previous, window }: CounterState, time: number): { sum: bigint; of: bigint } {
    const of = BigInt(window)
    const left = (until: number): bigint => BigInt(Math.max(0, Math.min(window, until - time)))
    if (time < end) return { sum: BigInt(current) * of + BigInt(previous) * left(end), of }
    return { sum: BigInt(current) * left(end + window), of }
  }

  it('forgets nothing that a micro-token is left of', () => {
    const state = { end: MIDNIGHT + 3 * S, current: 0, previous: 1, window: 3 * S, absent: 0 }
    expect(slidingWindowCounterKernel.adopt(long.plan, state, MIDNIGHT + 3 * S - 1, 0)).toMatchObject({ previous: 1 })
    expect(slidingWindowCounterKernel.adopt(long.plan, state, MIDNIGHT + 3 * S, 0)).toBeUndefined()
  })

  it('admits to two policies that take turns what the slower one admits alone', () => {
    const admitted = (limits: readonly AnyLimit[]): number => {
      const key = keyOf()
      let count = 0
      for (let call = 0; call < 7_200; call += 1) {
        if (key.decide(limits[call % limits.length] as AnyLimit, call / 4, 1).outcome === 'allowed') count += 1
      }
      return count
    }
    for (const pair of [
      [short, long],
      [short, slidingWindowCounter({ limit: 11, window: '11s' })],
      [slidingWindowCounter({ limit: 30, window: '30s' }), slidingWindowCounter({ limit: 300, window: '5m' })],
    ] as const) {
      const slower = Math.min(admitted([pair[0]]), admitted([pair[1]]))
      expect(admitted(pair)).toBeGreaterThanOrEqual(slower)
      expect(admitted(pair)).toBeLessThanOrEqual(Math.max(admitted([pair[0]]), admitted([pair[1]])))
    }
  })
})

describe('law 7 on the sliding window log: a changed window', () => {
  const limits = [
    slidingWindowLog({ limit: 3, window: '10s' }),
    slidingWindowLog({ limit: 5, window: '1m' }),
    slidingWindowLog({ limit: 4, window: '35s' }),
  ]

  it('is exact under each of several policies that take turns, once the longest has been seen', () => {
    const step = fc.record({ wait: fc.nat(4_000), which: fc.nat(2), cost: fc.constantFrom(1, 2, 1.5) })
    let denied = 0
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60, size: 'large' }), (trace) => {
        const key = keyOf()
        key.decide(limits[1] as AnyLimit, 0, 1)
        const charged = [{ at: 0, cost: 1 }]
        let second = 0
        for (const { wait, which, cost } of trace) {
          second += wait / 1_000
          const limit = limits[which] as (typeof limits)[number]
          const from = second - limit.windowMs / 1_000
          const used = charged.filter(({ at }) => at > from + 1e-9).reduce((sum, entry) => sum + entry.cost, 0)
          const fits = used + cost <= limit.capacity
          const { outcome } = key.decide(limit, second, cost)
          expect(outcome).toBe(fits ? 'allowed' : 'denied')
          if (outcome === 'allowed') charged.push({ at: second, cost })
          else denied += 1
        }
      }),
      { seed: SEED, numRuns: draws(500, 40) },
    )
    expect(denied).toBeGreaterThan(draws(1_000, 300))
  })

  it('remembers the longest window of all, for as long as something was charged in it', () => {
    const [short, long, middle] = limits as [AnyLimit, AnyLimit, AnyLimit]
    const key = keyOf()
    key.decide(long, 0, 1)
    key.decide(short, 1, 1)
    key.decide(middle, 2, 1)
    expect(key.state).toMatchObject({ window: 35 * S, keepFor: 60 * S })
    key.decide(short, 61.999999, 1)
    expect(key.state).toMatchObject({ window: 10 * S, keepFor: 60 * S })
    key.decide(short, 200, 1)
    expect(key.state).toMatchObject({ window: 10 * S, keepFor: 0 })
  })

  it('is gone once the longest window has passed, to the microsecond, and needs no keepFor for the longest itself', () => {
    const [short, long] = limits as unknown as [CompiledLimit<LogPlan, LogState>, CompiledLimit<LogPlan, LogState>]
    const { adopt, codec } = slidingWindowLogKernel
    const charged = codec.decodeState([60 * S, 0, MIDNIGHT, S])
    expect(adopt(short.plan, charged, MIDNIGHT + 60 * S, 0)).toBeUndefined()
    const held = adopt(short.plan, charged, MIDNIGHT + 60 * S - 1, 0) as LogState
    expect(codec.encodeState(held)).toEqual([10 * S, 60 * S, MIDNIGHT, S])
    expect(codec.encodeState(adopt(long.plan, held, MIDNIGHT + 1, 0) as LogState)).toEqual([60 * S, 0, MIDNIGHT, S])
    // This state was kept for an earlier limit of 60 s. That time has passed, so the next charge drops `keepFor`.
    const { next } = slidingWindowLogKernel.decide(short.plan, held, MIDNIGHT + 60 * S, S, 0)
    expect(codec.encodeState(next)).toEqual([10 * S, 0, MIDNIGHT + 60 * S, S])
  })
})
