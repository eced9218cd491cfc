import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { poissonArrivals } from '../src/open/arrivals.ts'
import { capacityOf } from '../src/open/capacity.ts'
import { metered, meteredOver, permittedOf } from '../src/open/metered.ts'
import { type Target, openLoop, type OpenRound } from '../src/open/open-loop.ts'
import { openResult } from '../src/open/result.ts'

/** A way that answers as configured; `late` counts as undecided. */
function way(answer: (index: number) => Promise<boolean | 'late'>): Target {
  return {
    invoke: answer,
    passed: (reported) => {
      if (reported === 'late') throw new Error('late')
      return reported === true
    },
  }
}

/** `performance.now()` that advances only when it is set. */
function clockOf(): { advance(ms: number): void } {
  let now = 1_000
  const spy = vi.spyOn(performance, 'now').mockImplementation(() => now)
  onTestFinished(() => spy.mockRestore())
  return { advance: (ms) => (now += ms) }
}

describe('Poisson arrivals', () => {
  const [PER_SECOND, MS, SEEDS] = [5_000, 1_000, 40]
  const runs = Array.from({ length: SEEDS }, (_, index) => poissonArrivals(PER_SECOND, MS, index + 1))
  const gaps = runs.flatMap((arrivals) => Array.from(arrivals.subarray(1), (at, index) => at - (arrivals[index] as number)))

  it('come in order, within the time, at the rate that was requested', () => {
    for (const arrivals of runs) {
      expect(arrivals.every((at, index) => at > (index === 0 ? 0 : (arrivals[index - 1] as number)) && at < MS)).toBe(true)
      // Six standard deviations of a count: it is fixed by the seed, and no chance of a run.
      expect(Math.abs(arrivals.length - PER_SECOND)).toBeLessThan(6 * Math.sqrt(PER_SECOND))
    }
    const mean = runs.reduce((sum, { length }) => sum + length, 0) / SEEDS
    expect(Math.abs(mean - PER_SECOND)).toBeLessThan(6 * Math.sqrt(PER_SECOND / SEEDS))
  })

  it.each([0.1, 0.5, 1, 2, 4])('%d mean gaps are passed by e^-x of all gaps: the exponential distribution', (x) => {
    const share = gaps.filter((gap) => gap > (x * 1_000) / PER_SECOND).length / gaps.length
    const expected = Math.exp(-x)
    expect(Math.abs(share - expected)).toBeLessThan(6 * Math.sqrt((expected * (1 - expected)) / gaps.length))
  })

  it('counts of equal stretches vary as much as they are large, and stretches do not know of each other', () => {
    const [STRETCH, COUNT] = [4, MS / 4]
    const counts = runs.flatMap((arrivals) => {
      const found = Array.from({ length: COUNT }, () => 0)
      for (const at of arrivals) found[Math.floor(at / STRETCH)] = (found[Math.floor(at / STRETCH)] as number) + 1
      return found
    })
    const mean = counts.reduce((sum, count) => sum + count, 0) / counts.length
    const centred = counts.map((count) => count - mean)
    const variance = centred.reduce((sum, off) => sum + off * off, 0) / counts.length
    const neighbours = centred.slice(1).reduce((sum, off, index) => sum + off * (centred[index] as number), 0) / counts.length
    // Bunches would make it larger than 1, an even beat smaller.
    expect(variance / mean).toBeGreaterThan(0.93)
    expect(variance / mean).toBeLessThan(1.07)
    expect(Math.abs(neighbours / variance)).toBeLessThan(0.06)
  })

  it('are the same for the same seed, and others for another', () => {
    expect(poissonArrivals(100, 1_000, 3)).toEqual(poissonArrivals(100, 1_000, 3))
    expect(poissonArrivals(100, 1_000, 3)).not.toEqual(poissonArrivals(100, 1_000, 4))
  })

  it.each([
    [0, 1],
    [1, 0],
    [Number.NaN, 1],
  ])('%d a second for %d ms is refused', (perSecond, ms) => {
    expect(() => poissonArrivals(perSecond, ms, 1)).toThrow('expected both above 0')
  })
})

describe('an open loop', () => {
  it('measures from the instant at which a request was due: what a slow one keeps waiting is late too', async () => {
    const clock = clockOf()
    const slow = way(async (index) => {
      // The first request holds up the process for 50 ms, and no other takes any time.
      if (index === 0) clock.advance(50)
      return true
    })
    clock.advance(0)
    const arrivals = Float64Array.from({ length: 11 }, (_, index) => index)
    const running = openLoop(slow, arrivals)
    // It begins 2 ms from now.
    clock.advance(2)
    const { total, allowed, latency, late, elapsedMs } = await running
    expect([total, allowed, elapsedMs]).toEqual([11, 11, 50])
    // The first was made in time and took 50 ms; that of instant i was made 50 - i late, and answered at once.
    expect(latency).toEqual({ p50: 45_000, p99: expect.closeTo(49_900, 6), longest: 50_000 })
    expect(late).toMatchObject({ p50: 44_000, p99: expect.closeTo(48_900, 6) })
  })

  it('makes a request whether or not earlier ones were answered, one in a turn, and counts what became of each', async () => {
    let inThisTurn = 0
    let most = 0
    let release: () => void = () => undefined
    const held = new Promise<void>((resolve) => (release = resolve))
    const mixed = way((index) => {
      inThisTurn += 1
      most = Math.max(most, inThisTurn)
      queueMicrotask(() => (inThisTurn = 0))
      if (index === 9) release()
      // Throws at once.
      if (index === 0) throw new Error('refused at once')
      if (index === 1) return Promise.reject(new Error('late'))
      return held.then(() => (index === 2 ? 'late' : index % 2 === 0))
    })
    const round = await openLoop(mixed, new Float64Array(10))
    // All are due at once, and none is made in the turn of another.
    expect(most).toBe(1)
    // 4, 6 and 8 pass; 3, 5, 7 and 9 are refused.
    expect(round).toMatchObject({ total: 10, allowed: 3, refused: 4, undecided: 3, reasons: { 'refused at once': 1, late: 2 } })
  })

  it('a request that is never answered is undecided, and waited for as long as the others', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    let answer: (allowed: boolean) => void = () => undefined
    const hanging = way((index) => (index === 1 ? new Promise((resolve) => (answer = resolve)) : Promise.resolve(true)))
    let found: OpenRound | undefined
    const running = openLoop(hanging, new Float64Array(3)).then((round) => (found = round))
    while (vi.getTimerCount() === 0) await nextTurn()
    expect(found).toBeUndefined()
    await vi.advanceTimersByTimeAsync(10_000)
    await running
    expect(found).toMatchObject({ total: 3, allowed: 2, refused: 0, undecided: 1, reasons: { 'never answered': 1 } })
    expect(found?.latency.longest).toBeGreaterThan(0)
    // What comes after the end changes nothing.
    answer(true)
    await nextTurn()
    expect(found?.allowed).toBe(2)
  })

  it('no arrival, no figure', async () => {
    expect(
      await openLoop(
        way(async () => true),
        new Float64Array(0),
      ),
    ).toMatchObject({ total: 0, latency: { p50: Number.NaN } })
  })
})

describe('capacity', () => {
  it('keeps as many requests under way as there are callers, and counts decisions alone', async () => {
    const clock = clockOf()
    let [underWay, most, issued] = [0, 0, 0]
    const half = way(async () => {
      issued += 1
      underWay += 1
      most = Math.max(most, underWay)
      await nextTurn()
      await nextTurn()
      await nextTurn()
      underWay -= 1
      clock.advance(1)
      return issued % 2 === 0 ? true : 'late'
    })
    const perSecond = await capacityOf(half, 2, 100)
    expect(most).toBe(2)
    expect(perSecond).toBeLessThan(1_000)
    expect(perSecond).toBeGreaterThan(0)
  })
})

describe('what may pass', () => {
  const quota = { tokens: 100, per: '1s', burst: 100 } as const

  it.each([
    ['bucket', 0, 100],
    ['bucket', 1_999, 300],
    ['window', 500, 200],
    ['window', 1_999, 300],
    ['window', 2_000, 400],
  ] as const)('a %s within %d ms: %d', (promise, ms, most) => {
    expect(permittedOf(quota, promise, ms)).toBe(most)
  })
})

describe('an audit under a limit', () => {
  // 300 a second are the fewest arrivals of any suite.
  it.each(['bucket', 'window', 'counter', 'log'] as const)(
    'shows that a %s without a limit over-grants, at 300 arrivals a second',
    async (promise) => {
      const clock = clockOf()
      let ticking: NodeJS.Immediate | undefined
      const advance = (): void => {
        clock.advance(0.25)
        ticking = setImmediate(advance)
      }
      advance()
      const round = await metered(
        async (quota) => ({ ...way(async () => true), permitted: (ms) => permittedOf(quota, promise, ms), close: async () => undefined }),
        { perSecond: 300, seed: 1 },
      )
      clearImmediate(ticking as NodeJS.Immediate)
      expect(round.total).toBeGreaterThan(4 * round.permitted)
      expect(meteredOver(round)).toBeGreaterThan(300)
    },
  )

  it.each([
    { total: 105, allowed: 105, refused: 0, undecided: 0, permitted: 150 },
    { total: 900, allowed: 50, refused: 50, undecided: 800, permitted: 150 },
  ])('says that it could find nothing if as much was permitted as was decided', (round) => {
    expect(meteredOver(round)).toEqual({ notAudited: expect.stringMatching(/10[05] of .* were decided, and 150 were permitted/) })
  })
})

describe('the tables', () => {
  const round = (p50: number, undecided: number): OpenRound => ({
    total: 100,
    allowed: 100 - undecided,
    refused: 0,
    undecided,
    reasons: undecided === 0 ? {} : { late: undecided },
    latency: { p50, p99: p50 * 10, longest: p50 * 20 },
    late: { p50: 1, p99: 3 },
    elapsedMs: 1_000,
  })
  const counted = { total: 200, allowed: 150, refused: 50, undecided: 0, permitted: 100 }

  it('hold each way against the baseline of the same round, and its own share against that share of the baseline', () => {
    const { notes, tables = [] } = openResult(
      {
        names: ['Lua', 'Sluice'],
        capacities: [1_000, 2_000],
        timed: [
          { lane: 0, of: 'baseline', share: 0.5, perSecond: 500, rounds: [round(100, 0), round(200, 0)] },
          { lane: 1, of: 'baseline', share: 0.5, perSecond: 500, rounds: [round(150, 0), round(300, 1)], disturbed: 'steal 9 %' },
          { lane: 1, of: 'own', share: 0.5, perSecond: 1_000, rounds: [round(400, 0), round(800, 0)] },
        ],
        metered: [{ ...counted, permitted: 150 }, counted],
        limited: [{}, { disturbed: 'steal 4 %' }],
      },
      ['baseline', 'ours'],
    )
    const [latency, limited] = tables
    expect(latency?.rows).toMatchObject([
      {
        name: 'Lua',
        load: '50 % baseline',
        kind: 'baseline',
        cells: { perSecond: 500, p50: { median: 150 }, p50x: { median: 1 } },
        overGrant: 0,
      },
      {
        name: 'Sluice',
        load: '50 % baseline',
        cells: { p50x: { low: 1.5, high: 1.5 }, p99: { median: 2_250 }, late: 3, undecided: 0.5 },
        disturbed: 'steal 9 %',
      },
      { name: 'Sluice', load: '50 % own', kind: 'ours', cells: { p50x: { median: 4 }, refused: 0 }, overGrant: 50 },
    ])
    expect(limited?.rows).toMatchObject([
      { name: 'Lua', cells: { capacity: 1_000, refused: 25 }, overGrant: 0 },
      { name: 'Sluice', cells: { capacity: 2_000, refused: 25 }, overGrant: 50, disturbed: 'steal 4 %' },
    ])
    expect(notes).toEqual(['Sluice, undecided: 1 x "late"'])
  })
})
