import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { Audited, PostgresGrant } from '../src/postgres/audit-way.ts'
import { exampleResult, grantsTable, sessionsTable } from '../src/postgres/seed-004.ts'
import { URL_VARIABLE, yugabyte } from '../src/postgres/yugabyte.ts'
import type { PartOptions } from '../src/part.ts'

const audited = (overGrantPercent: number): Audited => ({ total: 100, allowed: 30, failures: {}, permitted: 20, overGrantPercent })
const grant: PostgresGrant = { name: 'a way', flood: audited(0), paced: audited(12), overGrantPercent: 12 }

describe('the tables of seed-004', () => {
  it('sessions: every failure has a column of its own, and every row its share and its audit', () => {
    const perSecond = { low: 1, median: 2, high: 3 }
    const table = sessionsTable([
      {
        way: 'article',
        isolation: 'serializable',
        grant,
        result: { total: 200, denied: 0, perSecond, failures: { '40001': 90, '23505': 10 } },
      },
      {
        way: 'sluice',
        isolation: 'serializable',
        grant: { ...grant, overGrantPercent: 0 },
        result: { total: 50, denied: 1, perSecond, failures: {} },
      },
    ])
    expect(table.columns.map(({ title }) => title)).toEqual(['decided calls a second', 'calls', 'failed', '23505', '40001'])
    expect(table.rows).toMatchObject([
      { load: 'serializable', kind: 'baseline', cells: { failed: 50, '23505': 10, '40001': 90 }, overGrant: 12, wrongAnswers: 0 },
      { kind: 'ours', cells: { failed: 0, '23505': 0, '40001': 0 }, overGrant: 0, wrongAnswers: 1 },
    ])
  })

  it('over-grant: both loads, and the worse of them is that of the row', () => {
    const [row] = grantsTable([{ way: 'article', isolation: 'read committed', grant }]).rows
    expect(row).toMatchObject({ cells: { flood: 30, floodMost: 20, floodOver: 0, pacedOver: 12 }, overGrant: 12 })
  })

  it('example: counts before and after the pause, next to the article’s own, and draws all of them as steps', () => {
    const calls = (...left: number[]) => left.map((tokens, index) => ({ at: index / 10, left: tokens }))
    const result = { before: calls(9, 8, -1), after: calls(4, 3, -1), overGrantPercent: 0 }
    const { tables = [], plots = [] } = exampleResult([{ way: 'sluice', result }])
    expect(tables[0]?.rows).toMatchObject([
      { kind: 'ours', cells: { allowed: 2, left: 4, again: 2 }, overGrant: 0 },
      { kind: 'quoted', cells: { allowed: 10, left: 3, again: 4 } },
    ])
    const [ours, quoted] = plots[0]?.series ?? []
    expect(plots[0]?.steps).toBe(true)
    expect([ours?.points.length, quoted?.points.length]).toEqual([6, 18])
    expect(quoted?.points.slice(12, 14)).toEqual([
      { x: expect.closeTo(1.2), y: -1 },
      { x: expect.closeTo(5.2), y: 3 },
    ])
  })

  it('YugabyteDB: without a URL the part says that it was not run, and why', async () => {
    vi.stubEnv(URL_VARIABLE, '')
    onTestFinished(() => void vi.unstubAllEnvs())
    const { tables, notes } = await yugabyte.run({} as PartOptions)
    expect(tables).toBeUndefined()
    expect(notes).toEqual([expect.stringMatching(/^Not run: SLUICE_YUGABYTE_URL is not set/)])
  })
})
