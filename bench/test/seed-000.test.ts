import { describe, expect, it } from 'vitest'
import type { Quota } from '../src/contestants/contestant.ts'
import { permittedOf } from '../src/open/metered.ts'
import { auditPromise } from '../src/over-grant.ts'
import type { OpenLane } from '../src/open/rounds.ts'
import type { OpenRound } from '../src/open/open-loop.ts'
import { isWrong } from '../src/result/table.ts'
import { wayOf } from '../src/redis/ways.ts'
import { ARTICLE } from '../src/seed-000/article.ts'
import { COMPARED, type Compared, TERMS } from '../src/seed-000/compared.ts'
import { comparisonResult } from '../src/seed-000/comparison-tables.ts'
import { driftPercent, overGrantOf, worstPercent } from '../src/seed-000/drifts.ts'
import { type Climb, climb } from '../src/seed-000/steps.ts'
import type { Sent } from '../src/seed-000/worker-order.ts'
import { worstWindow } from '../src/worst-window.ts'

/** Three a second, by windows; a bucket with a burst of three. */
const QUOTA: Quota = { tokens: 3, per: '1s', burst: 3 }
const SECOND = 1_000_000

function round(p99Micros: number, refused = 0): OpenRound {
  const latency = { p50: p99Micros / 2, p99: p99Micros, longest: p99Micros }
  return { total: 10, allowed: 10 - refused, refused, undecided: 0, reasons: {}, latency, late: { p50: 0, p99: 0 }, elapsedMs: 100 }
}

function sent(admitted: readonly number[]): Sent {
  return { total: admitted.length, allowed: admitted.length, undecided: 0, warmedUp: 0, elapsedMs: 1_000, commands: 0, admitted }
}

describe('the worst window', () => {
  it('is shorter than a window: requests a whole window apart are not in one', () => {
    expect(worstWindow([0, SECOND], QUOTA).count).toBe(1)
    expect(worstWindow([0, SECOND - 1], QUOTA)).toEqual({ from: 0, to: SECOND - 1, count: 2 })
  })

  it('is found in any order, and nothing is nothing', () => {
    expect(worstWindow([5 * SECOND, 10, 9, 8, 0], QUOTA)).toEqual({ from: 0, to: 10, count: 4 })
    expect(worstWindow([], QUOTA)).toEqual({ from: 0, to: 0, count: 0 })
  })

  it('is the drift of windows beyond the limit, and of a bucket beyond burst and refill', () => {
    const six = [0, 1, 2, 3, 4, 5]
    expect([driftPercent(six, 'window', QUOTA), driftPercent(six, 'bucket', QUOTA), worstPercent(six, QUOTA)]).toEqual([100, 0, 200])
    expect(driftPercent([0, 1], 'log', QUOTA)).toBe(0)
  })

  it('holds a log to its exact promise', () => {
    const admitted = [0, 1, 2, SECOND - 1].map((at) => ({ at, cost: 1, allowed: true }))
    expect(auditPromise(admitted, 'log', QUOTA)).toMatchObject({ overGrant: 1, admitted: 4, permitted: 3 })
    expect(auditPromise(admitted.slice(0, 3), 'log', QUOTA).overGrantPercent).toBe(0)
    expect(auditPromise(admitted, 'window', QUOTA).overGrant).toBe(0)
  })
})

describe('the comparison of seed-000', () => {
  it('climbs until the p99 leaves the bound, and no further', async () => {
    const orders: number[] = []
    // A lane whose latency is its load: 13.5 ms at 1,350 a second.
    const lane: OpenLane = {
      name: 'lane',
      invoke: async (order) => {
        const { perSecond } = order as { perSecond: number }
        orders.push(perSecond)
        return round(perSecond * 10, 1)
      },
      kill: () => undefined,
    }
    const [one, overloaded] = await climb([lane, lane], [1_000, 10_000], { ms: 1, boundMs: 10, seed: 1 })
    expect(one).toMatchObject({ most: 1_000, ended: 'p99', refused: 7 })
    expect(one?.points.at(-1)).toEqual({ x: 1_350, y: 13.5 })
    expect(overloaded).toMatchObject({ most: 0, ended: 'p99', points: [{ x: 3_000, y: 30 }], total: 20, refused: 2, undecided: 0 })
    // Two tries agree that the first step is beyond the bound. Each has a run-in.
    expect(orders.filter((perSecond) => perSecond === 3_000)).toHaveLength(4)
  })

  it('does not end a climb for one step that a pause of the machine fell into', async () => {
    let disturbed = 0
    const lane = (pauses: number): OpenLane => ({
      name: 'lane',
      invoke: async (order) => {
        const { perSecond, ms } = order as { perSecond: number; ms: number }
        const paused = ms === 8 && perSecond === 500 && disturbed < pauses
        if (paused) disturbed += 1
        return round(paused ? 40_000 : 500)
      },
      kill: () => undefined,
    })
    const [once] = await climb([lane(1)], [1_000], { ms: 8, boundMs: 10, seed: 1 })
    expect(once).toMatchObject({ most: 10_000 })
    expect(once?.points.find(({ x }) => x === 500)).toEqual({ x: 500, y: 0.5, low: 0.5, high: 20.25 })
    disturbed = 0
    const [twice] = await climb([lane(2)], [1_000], { ms: 8, boundMs: 10, seed: 1 })
    expect(twice).toMatchObject({ most: 300, ended: 'p99' })
  })

  it('ends a climb at a load that is not decided, however fast; and marks one that no load ended', async () => {
    const visited: string[] = []
    const lane = (name: string, bears: number): OpenLane => ({
      name,
      invoke: async (order) => {
        const { perSecond } = order as { perSecond: number }
        visited.push(name)
        return { ...round(500), total: 1_000, undecided: perSecond > bears ? 2 : 1 }
      },
      kill: () => undefined,
    })
    const [limited, free] = await climb([lane('limited', 800), lane('free', 90_000)], [1_000, 1_000], { ms: 1, boundMs: 10, seed: 1 })
    expect(limited).toMatchObject({ most: 700, ended: 'undecided', total: 5_000, undecided: 7 })
    expect(free?.most).toBe(10_000)
    expect(free).not.toHaveProperty('ended')
    // Each try follows its run-in.
    const turns = visited.filter((_, index) => index % 2 === 1)
    expect(turns.slice(0, 4)).toEqual(['limited', 'free', 'free', 'limited'])
  })

  it.each(['incr-expire', 'zset-log', 'two-counters', 'sluice'] as const)('the flood shows that %s without a limit over-grants', (name) => {
    const { perSecond, ms } = TERMS.FLOOD
    const admitted = Array.from({ length: (perSecond * ms) / 1_000 }, (_, index) => Math.round((index * SECOND) / perSecond))
    const flood = [{ ...sent(admitted), elapsedMs: ms }]
    expect(overGrantOf(wayOf(name), flood)).toBeGreaterThan(100)
    expect(admitted.length).toBeGreaterThan(4 * permittedOf(TERMS.METERED, wayOf(name).promise ?? 'bucket', ms))
    expect(overGrantOf(wayOf(name), [{ ...sent([]), total: 600 }])).toEqual({ notAudited: expect.any(String) })
  })

  it('counts only whole requests against ways on a client’s clock', () => {
    // Three at once, and the fourth a fifth of a second later is four tenths of a token early.
    const flood = [sent([0, 1, 2]), sent([SECOND / 5]), { ...sent([]), total: 20 }]
    expect(overGrantOf(wayOf('rate-limit-lua'), flood, QUOTA)).toBe(0)
    expect(overGrantOf(wayOf('sluice'), flood, QUOTA)).toBeGreaterThan(5)
  })

  it('has the article’s row before ours for each algorithm, with every figure, and marks what is wrong', () => {
    const latency = { name: 'x', rounds: [round(2_000), round(4_000)] }
    const points = [{ x: 5_000, y: 9 }]
    const climbs: Climb[] = [
      { most: 5_000, points, total: 90, refused: 0, undecided: 11 },
      { most: 4_000, ended: 'undecided', points, total: 90, refused: 0, undecided: 9 },
    ]
    const found = COMPARED.map((compared): Compared => {
      const bursts = { atOnce: 100, undecided: 0, later: 50, boundary: [0, 1], pressed: [0, 1, 2] }
      const overGrant = compared.way === 'zset-log' ? 2 : 0
      const weight = { bytesPerKey: 100, refused: 0, keys: 10_000 }
      return { ...compared, contestant: wayOf(compared.way), weight, bursts, flood: [sent([0])], overGrant, latency, climbs }
    })
    const floor = { latency: { name: 'PING', rounds: [round(1_000), round(1_000)] }, climbs }
    const { tables = [], plots = [] } = comparisonResult(found, floor)
    const [main, bursts, matrix] = tables
    for (const table of [main, bursts]) {
      const quoted = table?.rows.filter(({ kind }) => kind === 'quoted') ?? []
      expect(quoted.map(({ load }) => load)).toEqual(['fixed-window', 'sliding-window-log', 'sliding-window-counter', 'token-bucket'])
    }
    expect(main?.rows[0]?.cells).toMatchObject({ bytes: ARTICLE['fixed-window'].bytes, p99: 0.8, scales: 'High' })
    const ours = main?.rows.find(({ name, load }) => name === 'Sluice' && load === 'token-bucket')
    expect(ours?.cells).toMatchObject({
      bytes: 1_000_000,
      p99: { low: 1.5, median: 2, high: 2.5 },
      boundary: 0,
      ended: '>= 5,000, undecided',
      undecided: 10,
    })
    expect(main?.rows.filter(isWrong).map(({ name }) => name)).toEqual(['sorted set'])
    expect(main?.rows.at(-1)).toMatchObject({ kind: 'floor', cells: { p99: { median: 1 } } })
    expect(matrix?.rows.map(({ name }) => name)).toHaveLength(3)
    expect(plots[0]?.series).toHaveLength(COMPARED.length)
  })

  it('leaves out a round in which not even PING was in time, and says so if none is left', () => {
    const climbOf = (most: number): Climb => ({ most, ended: 'p99', points: [], total: 10, refused: 0, undecided: 0 })
    const bursts = { boundary: [], pressed: [], atOnce: 1, later: 1, undecided: 0 }
    const latency = { name: 'x', rounds: [round(2_000)] }
    const scales = (ours: readonly number[], ping: readonly number[]) => {
      const found = COMPARED.slice(0, 1).map((compared): Compared => {
        const weight = { bytesPerKey: 100, refused: 0, keys: 10_000 }
        const climbs = ours.map(climbOf)
        return { ...compared, contestant: wayOf(compared.way), weight, bursts, flood: [sent([0])], overGrant: 0, latency, climbs }
      })
      return comparisonResult(found, { latency, climbs: ping.map(climbOf) }).tables?.[0]?.rows[1]?.cells
    }
    expect(scales([0, 300, 500], [0, 900, 900])).toMatchObject({ scales: { low: 350, median: 400, high: 450 }, ended: 'p99' })
    expect(scales([0], [0])).toMatchObject({ scales: undefined, ended: 'PING was late at once' })
    // A way that is late where PING is not keeps its 0.
    expect(scales([0, 0], [900, 900])).toMatchObject({ scales: { median: 0 } })
  })
})
