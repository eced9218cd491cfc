import { describe, expect, it } from 'vitest'
import { compareRuns } from '../src/compare-runs.ts'
import type { Depth, SuiteResults } from '../src/result/suite-result.ts'
import type { Cell, Row, Table } from '../src/result/table.ts'
import { partOf } from './part-results.ts'

const row = (name: string, time: Cell, load?: string): Row => {
  return { name, kind: 'peer', cells: { time }, overGrant: 0, ...(load === undefined ? {} : { load }) }
}
const spread = (low: number, high: number) => ({ low, median: (low + high) / 2, high })
const tableOf = (name: string, ...rows: readonly Row[]): Table => {
  return { name, title: name, columns: [], rows, rank: { column: 'time', best: 'least' } }
}
const runOf = (tables: readonly Table[], depth: Depth = 'full'): SuiteResults[] => {
  return [{ format: 1, suite: 'redis', title: 'Redis', parts: [{ ...partOf('hot'), depth, tables }] }]
}

describe('two runs', () => {
  it('are not alike if rows that are further apart than their spreads are swapped within a load', () => {
    const of = (one: number, other: number): SuiteResults[] =>
      runOf([tableOf('lanes', row('a', spread(one, one + 1), '1 caller'), row('b', spread(other, other + 1), '1 caller'))])
    expect(compareRuns(of(1, 5), of(1, 5))).toMatchObject({ alike: true, pairs: 1 })
    const { text, alike } = compareRuns(of(1, 5), of(5, 1))
    expect([alike, text]).toEqual([false, expect.stringContaining('SWAPPED in redis hot lanes, 1 caller: a and b')])
  })

  it('are alike if only rows are swapped that other work disturbed in one of them, which is said', () => {
    const of = (one: number, other: number, disturbed: object): SuiteResults[] =>
      runOf([tableOf('lanes', { ...row('a', spread(one, one + 1)), ...disturbed }, row('b', spread(other, other + 1)))])
    const { text, alike } = compareRuns(of(1, 5, {}), of(5, 1, { disturbed: 'steal 20 %' }))
    expect([alike, text.split('\n')]).toEqual([
      true,
      expect.arrayContaining([
        'swapped while other work disturbed them: redis hot lanes: a and b',
        expect.stringMatching(/^ALIKE but for disturbed rows: .* 1 further apart .*, 1 of them disturbed; 1 swapped, 1 of them disturbed$/),
      ]),
    ])
  })

  it('are not compared by figures without a spread, which are counted', () => {
    const of = (one: Cell, other: Cell): SuiteResults[] =>
      runOf([tableOf('lanes', row('a', one), row('b', other), row('text', 'none'), row('empty', undefined))])
    const { text, alike, pairs } = compareRuns(of(1, spread(2, 3)), of(4, spread(2, 3)))
    expect([alike, pairs, text]).toEqual([true, 0, expect.stringContaining('not compared, because they have no spread: 1 rows')])
    const once = { low: 2, median: 2, high: 2 }
    expect(compareRuns(of(spread(3, 4), once), of(spread(3, 4), once)).pairs).toBe(0)
  })

  it('say which tables and rows the second lacks, and where one was quick and the other was not', () => {
    const lanes = tableOf('lanes', row('a', spread(1, 2)), row('b', spread(3, 4), '1 caller'))
    const { text } = compareRuns(runOf([lanes, tableOf('other')]), runOf([tableOf('lanes', row('a', spread(1, 2)))], 'quick'))
    expect(text.split('\n')).toEqual(
      expect.arrayContaining([
        'MISSING in the second run: redis hot lanes, 1 caller: b',
        'MISSING in the second run: redis hot other',
        'DIFFERENT: redis hot is full in the first run and quick in the second',
      ]),
    )
  })
})
