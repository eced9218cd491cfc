import { describe, expect, it } from 'vitest'
import type { OpenRound } from '../src/open/open-loop.ts'
import { isWrong } from '../src/result/table.ts'
import type { Way } from '../src/redis/ways.ts'
import { ceilingResult, type Lifted } from '../src/seed-000/ceiling-tables.ts'
import { TERMS } from '../src/seed-000/compared.ts'
import { driftResult } from '../src/seed-000/drift.ts'
import { latencyResult, STORE_WAYS } from '../src/seed-000/latency.ts'
import { logsResult } from '../src/seed-000/logs.ts'
import type { Sent } from '../src/seed-000/worker-order.ts'

const LIMIT = TERMS.METERED.burst

function sent(fields: Partial<Sent>): Sent {
  return { total: 0, allowed: 0, undecided: 0, warmedUp: 0, elapsedMs: 1_000, commands: 0, admitted: [], ...fields }
}

/** So many of eight times as many at the same instant. */
function atOnce(count: number): Sent {
  return sent({ total: count * 8, allowed: count, admitted: Array.from({ length: count }, () => 1_000_000) })
}

describe('the drift of seed-000', () => {
  it('adds up what all processes let pass, and shows a wrong limiter as wrong', () => {
    const { tables = [], plots = [] } = driftResult([
      { way: 'in-process', processes: 1, sent: [atOnce(LIMIT)] },
      { way: 'in-process', processes: 4, sent: [1, 2, 3, 4].map(() => atOnce(LIMIT)) },
      { way: 'sluice', processes: 4, sent: [atOnce(LIMIT / 2), atOnce(LIMIT / 2)] },
    ])
    const rows = tables[0]?.rows ?? []
    expect(rows.map(({ kind, load, cells }) => [kind, load, cells['drift']])).toEqual([
      ['quoted', undefined, '5-12 %'],
      ['baseline', '1 process', 0],
      ['baseline', '4 processes', 300],
      ['ours', '4 processes', 0],
    ])
    // A fixed window may admit twice its limit around an end: the rest is over-grant.
    expect(rows.map((row) => ('overGrant' in row ? row.overGrant : undefined))).toEqual([undefined, 0, 100, 0])
    expect(rows.map(isWrong)).toEqual([false, false, true, false])
    expect(rows.at(-1)?.cells).toMatchObject({ admitted: LIMIT, perSecond: LIMIT * 8 })
    expect(plots[0]?.series[0]?.points).toEqual([
      { x: 1, y: 0 },
      { x: 4, y: 300 },
    ])
  })
})

describe('the ceiling of seed-000', () => {
  const lifted = (way: Way, processes: number, total: number, commands: number): Lifted => ({
    way,
    keys: 1,
    processes,
    sent: Array.from({ length: processes }, () => sent({ total, allowed: total, commands, warmedUp: total })),
    serverNs: processes * total * 2 * 5_000,
  })

  it('computes what a million needs from the rows with most processes', () => {
    const rounds = [
      lifted('rate-limit-lua', 1, 40_000, 40_000),
      lifted('rate-limit-lua', 2, 25_000, 25_000),
      lifted('leases', 2, 250_000, 250),
    ]
    const { tables = [] } = ceilingResult(rounds, new Map<Way, number>([['rate-limit-lua', 0]]))
    const [measured, million] = tables
    expect(measured?.rows.map(({ load, cells }) => [load, cells['perSecond'], cells['commands'], cells['server']])).toEqual([
      ['one key, 1 process', { low: 40_000, median: 40_000, high: 40_000 }, 1, 5],
      ['one key, 2 processes', { low: 50_000, median: 50_000, high: 50_000 }, 1, 5],
      ['one key, 2 processes', { low: 500_000, median: 500_000, high: 500_000 }, 0.001, 5],
    ])
    expect(million?.rows.map(({ kind, cells }) => [kind, cells])).toEqual([
      ['quoted', {}],
      ['computed', { processes: 40, commands: 1_000_000, servers: 5 }],
      ['computed', { processes: 4, commands: 1_000, servers: 5 }],
    ])
    expect(measured?.rows.at(-1)).toMatchObject({ overGrant: { notAudited: expect.any(String) }, wrongAnswers: 0 })
  })

  it('counts denials as wrong, and undecided requests as no decisions', () => {
    const round: Lifted = {
      way: 'sluice',
      keys: 1_000,
      processes: 1,
      sent: [sent({ total: 100, allowed: 60, undecided: 30 })],
      serverNs: 0,
    }
    const [row] = ceilingResult([round], new Map()).tables?.[0]?.rows ?? []
    expect(row).toMatchObject({ load: '1,000 keys, 1 process', wrongAnswers: 10, cells: { undecided: 30, perSecond: { median: 70 } } })
  })
})

describe('the latency of seed-000', () => {
  it('has the article’s figures first, and all stores under one load', () => {
    const round = (p99: number): OpenRound => {
      const latency = { p50: p99 / 2, p99, longest: p99 * 2 }
      return { total: 10, allowed: 9, refused: 0, undecided: 1, reasons: {}, latency, late: { p50: 0, p99: 0 }, elapsedMs: 1 }
    }
    const measured = STORE_WAYS.map((_, index) => ({ name: `way ${index}`, rounds: [round(1_000), round(3_000)] }))
    const metered = STORE_WAYS.map((_, index) => ({ total: 20, allowed: index === 1 ? 12 : 10, refused: 10, undecided: 0, permitted: 10 }))
    const rows = latencyResult(measured, metered).tables?.[0]?.rows ?? []
    expect(rows.map(({ kind }) => kind)).toEqual([
      'quoted',
      'quoted',
      'ours',
      'baseline',
      'ours',
      'ours',
      'baseline',
      'ours',
      'ours',
      'floor',
    ])
    expect(rows[2]).toMatchObject({ load: 'this process', overGrant: 0, cells: { p99: { median: 2 }, undecided: 10 } })
    expect(rows.map(isWrong).indexOf(true)).toBe(3)
  })
})

describe('the logs of seed-000', () => {
  it('scales what was measured to the users of the article', () => {
    const logs = { name: 'Sluice, Redis', kind: 'ours', users: 1_000, bytesPerUser: 3_000, overPercent: 0, refused: 0 } as const
    const rows = logsResult([logs]).tables?.[0]?.rows ?? []
    expect(rows.map(({ kind, cells }) => [kind, cells['users'], cells['all']])).toEqual([
      ['quoted', 100_000, 'gigabytes'],
      ['computed', 100_000, 160_000_000],
      ['ours', 1_000, 3_000_000],
      ['computed', 100_000, 300_000_000],
    ])
  })
})
