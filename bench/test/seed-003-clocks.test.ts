import { describe, expect, it } from 'vitest'
import type { TraceEntry } from 'sluice/testing'
import { isWrong } from '../src/result/table.ts'
import { clockPlots, clocksTable } from '../src/seed-003/clocks.ts'
import { DelayLine } from '../src/seed-003/delay-line.ts'
import { regressionTable, timeline, writeTable } from '../src/seed-003/lessons.ts'
import { judgeDecisions } from '../src/seed-003/oracle.ts'
import { aheadMs, type Scenario, SCENARIOS } from '../src/seed-003/scenarios.ts'
import { hostsResultOf } from './seed-003-fixtures.ts'

const LIMIT = { rate: 10, burst: 2 }

/** Decisions at milliseconds: `+` passed, `-` was denied. */
function decisions(text: string): TraceEntry[] {
  return text.split(' ').map((one) => ({ at: 1e15 + Number(one.slice(1)) * 1_000, cost: 1, allowed: one.startsWith('+') }))
}

describe('the exact oracle', () => {
  it.each([
    ['what an exact bucket decides', '+0 +0 -0 -99 +100 -199 +200', { allowed: 4, exactAllowed: 4, falseDenials: 0 }, 0],
    ['a denial although a token is there', '+0 +0 -101 -199', { allowed: 2, exactAllowed: 3, falseDenials: 2 }, 0],
    ['one too many', '+0 +0 +0', { allowed: 3, exactAllowed: 2, falseDenials: 0 }, 1],
    ['half a token too early', '+0 +0 +50', { allowed: 3, exactAllowed: 2, falseDenials: 0 }, 0.5],
    [
      'no denial is false until what passed too much is refilled',
      '+0 +0 +0 -150 -201',
      { allowed: 3, exactAllowed: 4, falseDenials: 1 },
      1,
    ],
    ['a burst is refilled at most once', '+0 +0 +900 +900 -900', { allowed: 4, exactAllowed: 4, falseDenials: 0 }, 0],
  ])('%s', (_, text, counts, overGrant) => {
    const judged = judgeDecisions(decisions(text), LIMIT)
    expect(judged).toMatchObject({ total: text.split(' ').length, ...counts })
    expect(judged.audit.overGrant).toBeCloseTo(overGrant, 9)
  })

  it('an unanswered request may have been charged: no denial is false for want of its token', () => {
    const all = decisions('+1 +1 -2 -3 -90 -250')
    const unanswered = Array.from({ length: 18 }, () => 1e15)
    // The bucket that was charged with all of them has no token until 100 ms after them.
    expect(judgeDecisions(all, { rate: 10, burst: 20 }, unanswered).falseDenials).toBe(1)
    expect(judgeDecisions(all, { rate: 10, burst: 20 }).falseDenials).toBe(4)
    const later = unanswered.map((at) => at + 200_000)
    expect(judgeDecisions(all, { rate: 10, burst: 20 }, later).falseDenials).toBe(4)
  })

  it('takes decisions in any order, and those of one instant with what passed first', () => {
    const all = decisions('+0 +0 -0 +100 -100')
    expect(judgeDecisions(all.toReversed(), LIMIT)).toEqual(judgeDecisions(all, LIMIT))
    expect(judgeDecisions([], LIMIT)).toMatchObject({ total: 0, allowed: 0, exactAllowed: 0, falseDenials: 0 })
  })
})

describe('scenarios', () => {
  const ahead = (scenario: Partial<Scenario>, elapsedMs: number) =>
    [0, 1, 2].map((host) => aheadMs({ ...(SCENARIOS[0] as Scenario), ...scenario }, host, 3, elapsedMs))

  it('spread the clocks evenly around the server’s, and let them drift apart', () => {
    expect(ahead({}, 1_000).map(Math.abs)).toEqual([0, 0, 0])
    expect(ahead({ skewMs: 100 }, 1_000)).toEqual([-50, 0, 50])
    expect(ahead({ skewMs: 100, driftMsPerSecond: 20 }, 2_000)).toEqual([-90, 0, 90])
  })

  it('cover skews of 0 to 1,000 ms and delays of 0 to 50 ms, and a quick run both ends', () => {
    const of = (key: 'skewMs' | 'delayMs', all: readonly Scenario[]) => [...new Set(all.map((one) => one[key]))].toSorted((a, b) => a - b)
    expect(of('skewMs', SCENARIOS)).toEqual([0, 10, 100, 1_000])
    expect(of('delayMs', SCENARIOS)).toEqual([0, 5, 20, 50])
    const quick = SCENARIOS.filter((one) => one.quick)
    expect([of('skewMs', quick).at(-1), of('delayMs', quick).at(-1)]).toEqual([1_000, 50])
    expect(new Set(SCENARIOS.map(({ name }) => name)).size).toBe(SCENARIOS.length)
  })
})

describe('a delay line', () => {
  it('delivers in order, each when its delay has passed and not before the one ahead of it', () => {
    let now = 0
    const delays = [10, 2, 30]
    const timers: { at: number; run: () => void }[] = []
    const delivered: [string, number][] = []
    const lags: number[] = []
    const line = new DelayLine<string>({
      delay: () => delays.shift() ?? 0,
      now: () => now,
      after: (ms, run) => void timers.push({ at: now + ms, run }),
      deliver: (item) => void delivered.push([item, now]),
      onLag: (ms) => void lags.push(ms),
    })
    const advance = (to: number): void => {
      now = to
      for (const timer of timers.splice(0)) {
        if (timer.at <= now) timer.run()
        else timers.push(timer)
      }
    }
    line.push('a')
    now = 5
    line.push('b')
    line.push('c')
    // The timer fires early, as those of Node may.
    timers.splice(0).forEach(({ run }) => run())
    for (const at of [9, 10, 20, 38]) advance(at)
    expect(delivered).toEqual([
      ['a', 10],
      ['b', 10],
      ['c', 38],
    ])
    expect(lags).toEqual([0, 0, 3])
  })
})

describe('the part clocks', () => {
  const scenario = SCENARIOS.find(({ skewMs, delayMs }) => skewMs === 100 && delayMs === 0) as Scenario
  const observed = [
    { scenario: SCENARIOS[0] as Scenario, results: [hostsResultOf('lua-article', 0), hostsResultOf('sluice', 0)], proxy: { lagP99Ms: 0 } },
    { scenario, results: [hostsResultOf('lua-article', 25), hostsResultOf('sluice', 0)], proxy: { lagP99Ms: 1.5 } },
  ]

  it('has a row for each way under each scenario, and over-grant makes it wrong', () => {
    const { rows } = clocksTable(observed)
    expect(rows.map(({ load }) => load)).toEqual(['no skew, no delay', 'no skew, no delay', 'skew 100 ms', 'skew 100 ms'])
    expect(rows.map(isWrong)).toEqual([false, false, true, false])
    expect(rows[2]?.cells).toMatchObject({ total: 40, allowed: 25, exact: 20, beyond: 5, falseDenials: 10, lag: 1.5 })
  })

  it('is drawn over skew and over delay', () => {
    const plots = clockPlots(observed)
    expect(plots.map(({ name }) => name)).toEqual([
      'over-grant-over-skew',
      'false-denials-over-skew',
      'over-grant-over-delay',
      'false-denials-over-delay',
    ])
    expect(plots[0]?.series[0]?.points).toEqual([
      { x: 0, y: 0 },
      { x: 100, y: 25 },
    ])
    expect(plots[2]?.series[0]?.points).toEqual([{ x: 0, y: 0 }])
  })
})

describe('the lesson on timestamps', () => {
  const results = [{ ...hostsResultOf('lua-last-time', 110), sent: [5, 7, 6, 9] }, hostsResultOf('lua-article', 0)]

  it('shows ts = now as wrong, with the article’s figures', () => {
    const { rows } = regressionTable({ results })
    expect(rows.map(({ kind }) => kind)).toEqual(['baseline', 'quoted', 'baseline', 'quoted'])
    expect(rows.map(isWrong)).toEqual([true, false, false, false])
    expect(rows[1]?.cells).toEqual({ article: 100 })
  })

  it('shows requests without a decision, and calls no way better because it let fewer pass', () => {
    const { rows, rank } = regressionTable({ results: [{ ...hostsResultOf('sluice', 0), errors: 18 }] })
    expect(rows[0]?.cells).toMatchObject({ total: 40, errors: 18 })
    expect([rank, writeTable([]).rank]).toEqual([undefined, undefined])
  })

  it('draws the stored timestamp going back, and math.max that does not', () => {
    const [plot] = timeline({ results })
    expect(plot?.series.map(({ points }) => points.map(({ y }) => y))).toEqual([
      [0, 2, 1, 4],
      [0, 2, 2, 4],
    ])
  })
})
