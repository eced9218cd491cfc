import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { AnyLimit, Envelope } from '../../src/algorithms/algorithm.ts'
import { type Align, fixedWindow } from '../../src/algorithms/fixed-window.ts'
import { slidingWindowCounter, slidingWindowCounterKernel, type CounterState } from '../../src/algorithms/sliding-window-counter.ts'
import { slidingWindowLog } from '../../src/algorithms/sliding-window-log.ts'
import { audit, type TraceEntry } from '../../src/testing/audit.ts'
import { SEED } from './arbitraries.ts'
import { applyGroup } from './driver.ts'
import { ceilDiv } from './oracles/oracle.ts'
import { MIDNIGHT } from './traces/trace.ts'

const S = 1_000_000

/** A key that is asked under one limit after the other; spent states are dropped at once. */
function keyOf(phase = 0) {
  let state: unknown
  let expiresAt = 0
  return {
    ask: (limit: AnyLimit, seconds: number, cost: number) => {
      const now = MIDNIGHT + Math.round(seconds * S)
      if (now >= expiresAt) state = undefined
      const result = applyGroup([state], [{ slot: 0, limit, cost, phase }], now)
      for (const write of result.writes) ({ state, expiresAt } = write)
      const [call] = result.calls
      return { outcome: result.outcome, remaining: call?.remaining, retry: (call?.retryAfter ?? 0) / S, written: result.writes.length }
    },
    get state() {
      return state
    },
  }
}

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
    expect(key.ask(ten, 0, 8)).toMatchObject({ outcome: 'allowed', remaining: 2 })
    expect(key.ask(three, 1, 1)).toMatchObject({ outcome: 'denied', remaining: 0 })
    expect(key.ask(hundred, 2, 1)).toMatchObject({ outcome: 'allowed', remaining: 91 })
    expect(key.ask(ten, 3, 1)).toMatchObject({ outcome: 'allowed', remaining: 0 })
    expect(key.ask(ten, 4, 1).outcome).toBe('denied')
  })

  it('mints nothing for two limits that take turns', () => {
    const key = keyOf()
    const [small, large] = [make(3, '1m'), make(10, '1m')]
    let admitted = 0
    for (let call = 0; call < 100; call += 1) {
      if (key.ask(call % 2 === 0 ? large : small, call / 10, 1).outcome === 'allowed') admitted += 1
    }
    expect(admitted).toBe(10)
  })
})

describe('law 7 on the fixed window: a changed window', () => {
  const minute = fixedWindow({ limit: 10, window: '1m' })
  const hour = fixedWindow({ limit: 10, window: '1h' })

  it('is prolonged where it grows, also by a call that is denied', () => {
    const key = keyOf()
    key.ask(minute, 30, 10)
    expect(key.ask(hour, 31, 1)).toMatchObject({ outcome: 'denied', retry: 3_569, written: 1 })
    expect(key.ask(hour, 32, 1)).toMatchObject({ outcome: 'denied', retry: 3_568, written: 0 })
    expect(key.ask(hour, 3_600, 10).outcome).toBe('allowed')
  })

  it('runs to its end where it shrinks, and the next one is short', () => {
    const key = keyOf()
    key.ask(hour, 30, 8)
    expect(key.ask(minute, 31, 1)).toMatchObject({ outcome: 'allowed', remaining: 1 })
    expect(key.ask(minute, 90, 2)).toMatchObject({ outcome: 'denied', retry: 3_510 })
    expect(key.ask(minute, 3_600, 10).outcome).toBe('allowed')
    expect(key.ask(minute, 3_660, 10).outcome).toBe('allowed')
  })

  it('ends no earlier than it would have where the two do not divide each other', () => {
    const [six, ten] = [fixedWindow({ limit: 5, window: '6s' }), fixedWindow({ limit: 5, window: '10s' })]
    const key = keyOf()
    key.ask(six, 7, 5)
    expect(key.ask(ten, 8, 1)).toMatchObject({ outcome: 'denied', retry: 4 })
    expect(key.ask(ten, 12, 1).outcome).toBe('allowed')
  })

  it('keeps the start of one that began with its first charge', () => {
    const [short, long] = [fixedWindow({ limit: 5, window: '1m', align: 'first' }), fixedWindow({ limit: 5, window: '1h', align: 'first' })]
    const key = keyOf()
    key.ask(short, 10, 5)
    expect(key.ask(long, 40, 1)).toMatchObject({ outcome: 'denied', retry: 3_570 })
    expect(key.ask(short, 50, 1)).toMatchObject({ outcome: 'denied', retry: 3_560, written: 0 })
    expect(key.ask(long, 60, 1)).toMatchObject({ outcome: 'denied', retry: 3_550, written: 0 })
  })

  it('knows where the windows of a key end that are spread', () => {
    const [short, long] = [fixedWindow({ limit: 5, window: '10s', align: 'key' }), fixedWindow({ limit: 5, window: '1m', align: 'key' })]
    const key = keyOf(2 ** 30)
    key.ask(short, 1, 5)
    expect(key.ask(long, 2, 1)).toMatchObject({ outcome: 'denied', retry: 13 })
    expect(key.ask(long, 15, 5).outcome).toBe('allowed')
    expect(key.ask(long, 74.999999, 1).outcome).toBe('denied')
    expect(key.ask(long, 75, 1).outcome).toBe('allowed')
  })

  it('has no ramp of its own in the window that runs on', () => {
    const [long, short] = [fixedWindow({ limit: 10, window: '1h', ramp: '10m' }), fixedWindow({ limit: 10, window: '1m', ramp: '30s' })]
    const key = keyOf()
    key.ask(long, 1_200, 2)
    expect(key.ask(short, 1_201, 8).outcome).toBe('allowed')
  })

  it('locks nobody out for longer than the longer of two windows that take turns', () => {
    for (const align of ['clock', 'first', 'key'] as const) {
      const key = keyOf(12_345)
      const [short, long] = [fixedWindow({ limit: 1, window: '7s', align }), fixedWindow({ limit: 1, window: '60s', align })]
      let last = 0
      for (let second = 0; second < 600; second += 1) {
        if (key.ask(second % 2 === 0 ? short : long, second, 1).outcome === 'allowed') last = second
        expect(second - last).toBeLessThan(120)
      }
    }
  })
})

describe('law 7 on the sliding window counter: a changed window', () => {
  it('counts what both windows count now, until that would be gone', () => {
    const key = keyOf()
    const [short, long] = [slidingWindowCounter({ limit: 10, window: '10s' }), slidingWindowCounter({ limit: 10, window: '1m' })]
    key.ask(short, 5, 8)
    key.ask(short, 15, 4)
    // 4, and half of the 8 before: they are charged in the minute that runs.
    expect(key.ask(long, 15, 3)).toMatchObject({ outcome: 'denied', remaining: 2, written: 1 })
    expect(key.state).toMatchObject({ end: MIDNIGHT + 60 * S, current: 8 * S, previous: 0, window: 60 * S })
    expect(key.ask(long, 90, 6)).toMatchObject({ outcome: 'allowed', remaining: 0 })
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
          const state = { end: (Math.floor(now / length) + 1) * length, current, previous, window: length }
          const made = slidingWindowCounterKernel.adopt(to.plan, state, now, 0)
          for (const time of [now, now + wait, state.end, state.end + Math.floor(wait / 20), made?.end ?? now]) {
            // In parts of a micro-token: what was counted, exactly, and what is.
            const was = countedAt(state, time)
            const is = made === undefined ? { sum: 0n, of: 1n } : countedAt(made, time)
            if (time >= now) expect(is.sum * was.of >= was.sum * is.of).toBe(true)
          }
        },
      ),
      { seed: SEED, numRuns: 3_000 },
    )
  })

  /** Micro-tokens that a state counts for, exactly: `sum / of`. */
  function countedAt({ end, current, previous, window }: CounterState, time: number): { sum: bigint; of: bigint } {
    const of = BigInt(window)
    const left = (until: number): bigint => BigInt(Math.max(0, Math.min(window, until - time)))
    if (time < end) return { sum: BigInt(current) * of + BigInt(previous) * left(end), of }
    return { sum: BigInt(current) * left(end + window), of }
  }

  it('goes on from no fraction: what is converted is rounded up to a micro-token', () => {
    const limit = slidingWindowCounter({ limit: 10, window: '1m' })
    const state = { end: MIDNIGHT + 3 * S, current: 0, previous: 1, window: 3 * S }
    expect(slidingWindowCounterKernel.adopt(limit.plan, state, MIDNIGHT + 3 * S - 1, 0)).toMatchObject({ current: 1 })
    expect(slidingWindowCounterKernel.adopt(limit.plan, state, MIDNIGHT + 3 * S, 0)).toBeUndefined()
    expect(ceilDiv(1n, 3_000_000n)).toBe(1n)
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
        key.ask(limits[1] as AnyLimit, 0, 1)
        const charged = [{ at: 0, cost: 1 }]
        let second = 0
        for (const { wait, which, cost } of trace) {
          second += wait / 1_000
          const limit = limits[which] as (typeof limits)[number]
          const from = second - limit.windowMs / 1_000
          const used = charged.filter(({ at }) => at > from + 1e-9).reduce((sum, entry) => sum + entry.cost, 0)
          const fits = used + cost <= limit.capacity
          const { outcome } = key.ask(limit, second, cost)
          expect(outcome).toBe(fits ? 'allowed' : 'denied')
          if (outcome === 'allowed') charged.push({ at: second, cost })
          else denied += 1
        }
      }),
      { seed: SEED, numRuns: 500 },
    )
    expect(denied).toBeGreaterThan(1_000)
  })

  it('remembers the longest window of all, for as long as something was charged in it', () => {
    const [short, long, middle] = limits as [AnyLimit, AnyLimit, AnyLimit]
    const key = keyOf()
    key.ask(long, 0, 1)
    key.ask(short, 1, 1)
    key.ask(middle, 2, 1)
    expect(key.state).toMatchObject({ window: 35 * S, hold: 60 * S })
    key.ask(short, 61.999999, 1)
    expect(key.state).toMatchObject({ window: 10 * S, hold: 60 * S })
    key.ask(short, 200, 1)
    expect(key.state).toMatchObject({ window: 10 * S, hold: 0 })
  })
})

/** The envelope of whichever allows more, in burst and in rate; or of both together. */
function over(limits: readonly AnyLimit[], together: boolean): AnyLimit {
  const envelopes = limits.map((limit): Envelope => limit.algorithm.envelope(limit.plan))
  const [one, two] = envelopes as [Envelope, Envelope]
  const faster = one.n * two.m > two.n * one.m ? one : two
  const sum = { n: one.n * two.m + two.n * one.m, m: one.m * two.m, burst: one.burst + two.burst }
  const envelope = together ? sum : { ...faster, burst: Math.max(one.burst, two.burst) }
  const [limit] = limits as [AnyLimit]
  return { ...limit, algorithm: { ...limit.algorithm, envelope: () => envelope } }
}

describe('law 7: two policies that take turns on one key', () => {
  const step = fc.record({ wait: fc.nat(3_000), which: fc.boolean(), cost: fc.nat(4) })
  const traces = fc.array(step, { maxLength: 150, size: 'large' })
  const run = (one: AnyLimit, two: AnyLimit, trace: readonly { wait: number; which: boolean; cost: number }[]): TraceEntry[] => {
    const key = keyOf(99)
    let second = 0
    return trace.map(({ wait, which, cost }) => {
      second += wait / 1_000
      const asked = Math.min(cost + 1, (which ? one : two).capacity)
      return {
        at: MIDNIGHT + Math.round(second * S),
        cost: asked,
        allowed: key.ask(which ? one : two, second, asked).outcome === 'allowed',
      }
    })
  }
  const pairs: [string, AnyLimit, AnyLimit, boolean][] = [
    ...(['clock', 'first', 'key'] as const).map((align: Align): [string, AnyLimit, AnyLimit, boolean] => [
      `fixed windows by ${align}, one dividing the other`,
      fixedWindow({ limit: 5, window: '5s', align }),
      fixedWindow({ limit: 8, window: '20s', align }),
      align === 'key',
    ]),
    [
      'fixed windows that do not divide each other',
      fixedWindow({ limit: 5, window: '6s' }),
      fixedWindow({ limit: 6, window: '10s' }),
      true,
    ],
    [
      'counters, the longer one slower',
      slidingWindowCounter({ limit: 5, window: '5s' }),
      slidingWindowCounter({ limit: 8, window: '20s' }),
      false,
    ],
    [
      'counters, the longer one faster',
      slidingWindowCounter({ limit: 2, window: '7s' }),
      slidingWindowCounter({ limit: 30, window: '20s' }),
      false,
    ],
    ['logs', slidingWindowLog({ limit: 5, window: '6s' }), slidingWindowLog({ limit: 8, window: '20s' }), false],
  ]

  it.each(pairs)('%s: nothing is minted', (_, one, two, together) => {
    let allowed = 0
    fc.assert(
      fc.property(traces, (trace) => {
        const seen = run(one, two, trace)
        allowed += seen.filter((entry) => entry.allowed).length
        expect(audit(seen, over([one, two], together)).overGrant).toBe(0)
      }),
      { seed: SEED, numRuns: 300 },
    )
    expect(allowed).toBeGreaterThan(1_000)
  })
})
