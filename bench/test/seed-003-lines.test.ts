import { describe, expect, it } from 'vitest'
import { isWrong } from '../src/result/table.ts'
import { bottomLineTable, complexityOf, correctnessOf } from '../src/seed-003/bottom-line.ts'
import { watchTable, writeTable } from '../src/seed-003/lessons.ts'
import { grantOf, laneOf } from './seed-003-fixtures.ts'

const good = { ...grantOf(0), allowed: 40, maximum: 40, errors: 0, total: 10_000 }

describe('the bottom line', () => {
  it('calls a way exact only without over-grant, with nearly all of the limit, and with nearly all decided', () => {
    expect(correctnessOf(good)).toBe('exact')
    expect(correctnessOf({ ...good, allowed: 36, errors: 100 })).toBe('exact')
    expect(correctnessOf({ ...good, allowed: 35 })).toBe('correct (but under-throughput)')
    expect(correctnessOf({ ...good, errors: 101 })).toBe('correct (but under-throughput)')
    expect(correctnessOf({ ...good, overGrantPercent: 0.1 })).toBe('over-grants')
  })

  it('calls a way complex if contention adds round trips, or each caller needs a connection', () => {
    const line = { alone: laneOf('sluice', 1), contended: laneOf('sluice', 1), test: good }
    expect(complexityOf(line)).toBe('low')
    expect(complexityOf({ ...line, contended: laneOf('sluice', 1, { storeCalls: 1.6 }) })).toBe('high')
    expect(complexityOf({ ...line, test: { ...good, connections: 64 } })).toBe('high')
  })

  it('ranks by the contended time, with the article’s words below', () => {
    const line = (way: 'lua-article' | 'watch' | 'sluice', wall: number) => ({
      alone: laneOf(way, 1),
      contended: laneOf(way, wall),
      test: good,
    })
    const { rows } = bottomLineTable([line('lua-article', 20), line('watch', 300), line('sluice', 5)])
    expect(rows.map(({ cells }) => cells['throughput'])).toEqual([
      '2 of 3',
      'best',
      'worst (3 of 3)',
      'worst under contention',
      'best (1 of 3)',
    ])
    expect(rows[0]?.cells).toMatchObject({ correctness: 'exact', ofLimit: 100, undecided: 0, time: 40 })
  })
})

describe('the lessons', () => {
  it('writing only when allowed: the wrong variants are wrong, next to the article’s figures', () => {
    const { rows } = writeTable([
      ['multi-command-printed', grantOf(200)],
      ['multi-command', grantOf(2_300)],
      ['multi-command-allowed-only', grantOf(2_400)],
    ])
    expect(rows.map(isWrong)).toEqual([true, false, true, true, false])
    expect([rows[1]?.cells, rows[4]?.cells]).toEqual([{ reckoned: 200 }, { reckoned: 2_400 }])
  })

  it('retries of WATCH against its throughput, in the article as well', () => {
    const lanes = [laneOf('lua-article', 100), laneOf('watch', 1_000, { storeCalls: 45, errors: 30 })]
    const { rows } = watchTable([{ load: { scenario: 'hot_key', callers: 64, quick: true }, lanes }])
    expect(rows[0]?.cells).toMatchObject({ calls: 45, tries: 15, share: { median: 10 }, errors: 30 })
    expect(rows[1]).toMatchObject({ kind: 'quoted', cells: { calls: 50.71, perSecond: 1e9 / 1_166_537 } })
  })
})
