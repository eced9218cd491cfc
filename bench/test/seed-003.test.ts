import { describe, expect, it } from 'vitest'
import { flexible } from '../src/contestants/flexible.ts'
import { luaArticle, luaServerTime } from '../src/contestants/lua.ts'
import { multiCommand } from '../src/contestants/multi-command.ts'
import { sluice } from '../src/contestants/sluice.ts'
import { allocationMeter } from '../src/machine/allocated.ts'
import { percentOf } from '../src/over-grant.ts'
import { article } from '../src/postgres/article.ts'
import { sluice as inPostgres } from '../src/postgres/sluice.ts'
import { knownOf } from '../src/redis/comparison.ts'
import type { LaneInput } from '../src/redis/lane-input.ts'
import type { GrantLoad } from '../src/redis/taken-grants.ts'
import { plotsOf, tableOf } from '../src/seed-003/contention.ts'
import { inputsOf, LOADS, loadsOf, WAYS } from '../src/seed-003/loads.ts'
import { rowsOf } from '../src/seed-003/over-grant.ts'
import { grantOf, laneOf } from './seed-003-fixtures.ts'

const HOT = { scenario: 'hot_key', callers: 64, quick: true } as const

describe('seed-003: the loads', () => {
  it('full: both scenarios at 1, 16, 64 and 256 callers; quick: fewer loads and the same contestants', () => {
    expect(LOADS.map(({ scenario, callers }) => `${scenario} ${callers}`)).toEqual(
      ['hot_key', 'per_user'].flatMap((scenario) => [1, 16, 64, 256].map((callers) => `${scenario} ${callers}`)),
    )
    expect(loadsOf('quick', 'hot_key').map(({ callers }) => callers)).toEqual([1, 64])
    expect(loadsOf('quick', 'per_user').map(({ callers }) => callers)).toEqual([64])
    for (const load of LOADS) expect(inputsOf(load)).toHaveLength(WAYS.length)
  })

  it('audits as many callers on one key as share a key', async () => {
    const loads: (GrantLoad | undefined)[] = []
    const audited = async (_way: string, load?: GrantLoad) => {
      loads.push(load)
      return grantOf(0)
    }
    const per = inputsOf({ ...HOT, scenario: 'per_user' })[1] as LaneInput
    const inputs = [inputsOf(HOT)[1] as LaneInput, per, { way: 'multi-command', callers: 1, keys: 'one' } as const]
    for (const input of inputs) await knownOf(input, audited)
    expect(loads).toEqual([{ callers: 64 }, { callers: 1 }, { callers: 1 }])
  })
})

describe('seed-003: the table of a load', () => {
  const lanes = [laneOf('lua-article', 10), laneOf('watch', 100, { allowed: 40, errors: 50, storeCalls: 45 }), laneOf('sluice', 5)]
  const { rows } = tableOf([{ load: HOT, lanes }])

  it('has the article’s figures below the measured ones, and the ratio to its Lua program', () => {
    expect(rows.map(({ name }) => name)).toEqual([
      'lua-article',
      'LuaEvalSha in the article',
      'watch',
      'WatchMultiExec in the article',
      'sluice',
    ])
    expect(rows[1]?.cells).toEqual({ time: 20_658, calls: 1, total: 76_624, allocations: 14 })
    expect(rows[2]?.cells).toMatchObject({
      ratio: { median: 10 },
      time: { median: 200 },
      calls: 45,
      errors: 50,
      bytes: 200,
      p50: 20,
      p99: 40,
    })
    expect(rows[3]?.cells).toMatchObject({ time: 1_166_537, calls: 50.71, allocations: 1_070 })
  })

  it('counts denials as wrong answers, but not requests without a decision', () => {
    expect(rows[2]).toMatchObject({ kind: 'baseline', overGrant: 0, wrongAnswers: 10 })
    expect(rows[4]).toMatchObject({ kind: 'ours', overGrant: 0, wrongAnswers: 0 })
  })

  it('is drawn over callers, each way and the article’s as a line', () => {
    const few = [laneOf('lua-article', 20)]
    const [time, calls] = plotsOf('hot-key', 'hot_key', [
      { load: { ...HOT, callers: 1 }, lanes: few },
      { load: HOT, lanes },
    ])
    expect(time?.x).toEqual({ title: 'callers', log: true })
    expect(time?.series.find(({ name }) => name === 'lua-article')?.points).toEqual([
      { x: 1, y: 40, low: 30, high: 50 },
      { x: 64, y: 20, low: 15, high: 25 },
    ])
    expect(calls?.series.find(({ name }) => name === 'LuaEvalSha in the article')).toEqual({
      name: 'LuaEvalSha in the article',
      kind: 'quoted',
      points: [
        { x: 1, y: 1 },
        { x: 64, y: 1 },
      ],
    })
  })
})

describe('seed-003: over-grant', () => {
  it('shows the article’s test next to the measured one', () => {
    const [measured, quoted] = rowsOf('multi-command', grantOf(10))
    expect(measured).toMatchObject({ cells: { total: 100, allowed: 22, errors: 1, nominal: 20, reckoned: 10, maximum: 21 }, overGrant: 10 })
    expect(quoted).toEqual({
      name: 'MultiCmd in the article',
      kind: 'quoted',
      cells: { total: 55_134, allowed: 123, errors: 42, nominal: 40, reckoned: 207.5 },
    })
    expect(rowsOf('sluice', grantOf(0))).toHaveLength(1)
  })

  it('counts whole requests only where the client’s clock decides, or the instants are rough', () => {
    const { audit } = grantOf(9)
    const early = { ...audit, overGrant: 0.9, overGrantPercent: 4.5 }
    const rough = [luaArticle, multiCommand, flexible, article]
    const exact = [luaServerTime, sluice, inPostgres]
    expect(rough.map((way) => percentOf(early, way))).toEqual([0, 0, 0, 0])
    expect(exact.map((way) => percentOf(early, way))).toEqual([4.5, 4.5, 4.5])
    expect(percentOf({ ...audit, overGrant: 2.9, overGrantPercent: 14.5 }, luaArticle)).toBe(10)
  })
})

describe('the allocation meter', () => {
  it('counts what was allocated, also what was freed meanwhile', () => {
    const kept: number[][] = []
    const allocated = allocationMeter()
    // 100 doubles, and the headers of the array and its elements: some 850 bytes. 40 MB is more than the young generation.
    for (let index = 0; index < 50_000; index += 1) kept[index % 10] = Array.from({ length: 100 }).fill(0.5) as number[]
    const bytes = allocated()
    expect(bytes).toBeGreaterThan(50_000 * 800)
    expect(kept).toHaveLength(10)
  })
})
