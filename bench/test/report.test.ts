import { describe, expect, it } from 'vitest'
import { dotChartOf, findingsChart, lineChartOf } from '../src/render/charts.ts'
import { findingsOf, headline, standing } from '../src/render/findings.ts'
import { reportHtml } from '../src/render/html.ts'
import { escaped } from '../src/render/html/escape.ts'
import { suiteHtml } from '../src/render/html/sections.ts'
import { reportMarkdown } from '../src/render/markdown.ts'
import type { SuiteResults } from '../src/result/suite-result.ts'
import type { Row, Table } from '../src/result/table.ts'
import { fullResults } from './full-results.ts'
import { partOf } from './part-results.ts'

const spread = (median: number) => ({ low: median * 0.9, median, high: median * 1.1 })
const limiter = (name: string, kind: 'ours' | 'peer' | 'baseline', time: number, more: Partial<Row> = {}): Row =>
  ({ name, kind, cells: { time: spread(time) }, overGrant: 0, ...more }) as Row
const TABLE: Table = {
  name: 'lanes',
  title: 'all ways',
  columns: [{ key: 'time', title: 'a request', unit: 'us', decimals: 1 }],
  rank: { column: 'time', best: 'least' },
  rows: [
    limiter('Lua', 'baseline', 30),
    { name: '  in the article', kind: 'quoted', cells: { time: 20.7 } },
    limiter('fast but wrong', 'peer', 1, { overGrant: 207.5, disturbed: 'steal 9 %' }),
    limiter('Sluice', 'ours', 10),
    limiter('broken', 'peer', Number.NaN),
  ],
}
const suiteOf = (...tables: readonly Table[]): SuiteResults => {
  return { format: 1, suite: 'redis', title: 'Redis', parts: [{ ...partOf('hot'), tables }] }
}

describe('the dots of a ranked table', () => {
  it('are all its rows, best first, with quartiles, units and what makes them doubtful; a row without a figure is last', () => {
    expect(dotChartOf(TABLE)).toEqual({
      type: 'dots',
      axis: 'a request in µs, less is better',
      log: true,
      domain: [0.9, 33],
      panels: [
        {
          dots: [
            { name: 'fast but wrong', kind: 'peer', value: 1, low: 0.9, high: 1.1, text: '1.0 µs, WRONG, disturbed', wrong: true },
            { name: 'Sluice', kind: 'ours', value: 10, low: 9, high: 11, text: '10.0 µs' },
            { name: 'Lua, in the article', kind: 'quoted', value: 20.7, text: '20.7 µs' },
            { name: 'Lua', kind: 'baseline', value: 30, low: 27, high: 33, text: '30.0 µs' },
            { name: 'broken', kind: 'peer', text: 'no figure' },
          ],
        },
      ],
    })
  })

  it('are on a linear axis from 0 where the greatest is at most 20 times the least, or one is 0', () => {
    const of = (...times: readonly number[]) => dotChartOf({ ...TABLE, rows: times.map((time) => limiter(`${time}`, 'peer', time)) })
    expect(of(1, 20)).toMatchObject({ log: true })
    expect(of(2, 20)).toMatchObject({ log: false, domain: [0, 22] })
    expect(of(0, 2_000)).toMatchObject({ log: false, domain: [0, 2_200] })
  })

  it('are in a panel for each load, unless each load has one row', () => {
    const rows = ['Lua', 'Sluice'].flatMap((name, index) =>
      ['1 caller', '64 callers'].map((load) => limiter(name, 'peer', index + 1, { load })),
    )
    expect(dotChartOf({ ...TABLE, rows })?.panels.map(({ title, dots }) => [title, ...dots.map(({ name }) => name)])).toEqual([
      ['1 caller', 'Lua', 'Sluice'],
      ['64 callers', 'Lua', 'Sluice'],
    ])
    expect(dotChartOf({ ...TABLE, rows: rows.slice(0, 2) })?.panels).toMatchObject([
      { dots: [{ name: 'Lua, 1 caller' }, { name: 'Lua, 64 callers' }] },
    ])
  })

  it('are the greatest first where much is good, and none of a table without a rank', () => {
    const { rank: _, ...unranked } = TABLE
    expect(dotChartOf(unranked)).toBeUndefined()
    const most = dotChartOf({ ...TABLE, rank: { column: 'time', best: 'most' } })
    expect(most?.panels[0]?.dots.map(({ name }) => name)).toEqual(['Lua', 'Lua, in the article', 'Sluice', 'fast but wrong', 'broken'])
    expect(most?.axis).toBe('a request in µs, more is better')
  })
})

describe('what was found', () => {
  it('is our default against the best other way that answered correctly', () => {
    const rows = [limiter('Sluice, bare', 'ours', 90), ...TABLE.rows]
    const found = findingsOf(suiteOf({ ...TABLE, rows }))
    expect(found).toMatchObject({ better: 1, worse: 0, alike: 0, rows: 6, wrongRows: 1, wrong: ['fast but wrong'], disturbed: 1 })
    expect(found.findings).toMatchObject([{ title: 'hot', ours: { name: 'Sluice', value: 10 }, other: { name: 'Lua', value: 30 } }])
    expect(headline(found, [])).toBe('hot: Sluice 10.0 µs, 3.00 × (2.45 .. 3.67) as good as Lua with 30.0 µs (a request).')
  })

  it('shows where ours is worse, where nobody can tell, and that ours itself is wrong', () => {
    const against = (time: number, more: Partial<Row> = {}) => ({
      ...TABLE,
      rows: [limiter('Sluice', 'ours', 10, more), limiter('Lua', 'baseline', time)],
    })
    const found = findingsOf(suiteOf(against(5, { wrongAnswers: 3 }), against(10.5), against(50)))
    expect(standing(found)).toBe('better in 1, worse in 1, no clear difference in 1')
    expect(headline(found, [])).toMatch(/^hot, all ways: Sluice 10\.0 µs, but WRONG answers, 0\.50 × /)
    expect(findingsChart(found.findings)).toMatchObject({ log: true, line: 1, domain: [0.4091, 6.111] })
  })

  it('is worse wherever one other way is clearly better, also if another has a better median that says little', () => {
    const noisy = limiter('noisy', 'peer', 4, { cells: { time: { low: 3, median: 4, high: 12 } } })
    const found = findingsOf(suiteOf({ ...TABLE, rows: [limiter('Sluice', 'ours', 10), noisy, limiter('steady', 'peer', 6)] }))
    expect(found.findings).toMatchObject([{ verdict: 'worse', other: { name: 'steady', value: 6 } }])
    const wide = limiter('wide', 'peer', 40, { cells: { time: { low: 9, median: 40, high: 60 } } })
    const doubtful = findingsOf(suiteOf({ ...TABLE, rows: [limiter('Sluice', 'ours', 10), limiter('Lua', 'baseline', 30), wide] }))
    expect(doubtful.findings).toMatchObject([{ verdict: 'alike' }])
  })

  const bounds = (low: number, high: number) => ({ time: { low, median: (low + high) / 2, high } })

  it('where a figure may be 0 or negative, the best other way stays in, and there is a verdict without a ratio', () => {
    const against = (cells: Row['cells'], own: Row['cells']) => ({
      ...TABLE,
      rows: [limiter('Sluice', 'ours', 10, { cells: own }), limiter('Lua', 'baseline', 50), limiter('peer', 'peer', 1, { cells })],
    })
    const tables = [against(bounds(-2, 1), bounds(4, 6)), against({ time: 0 }, { time: 0 }), against(bounds(-1, 1), bounds(-9, -7))]
    const found = findingsOf(suiteOf(...tables))
    expect(standing(found)).toBe('better in 1, worse in 1, no clear difference in 1')
    expect(found.findings.map(({ other, verdict, ratio }) => [other, verdict, ratio])).toEqual([
      [{ name: 'peer', value: -0.5 }, 'worse', undefined],
      [{ name: 'peer', value: 0 }, 'alike', undefined],
      [{ name: 'peer', value: 0 }, 'better', undefined],
    ])
    expect(headline(found, [])).toBe('hot, all ways: Sluice 5.0 µs, worse than peer with -0.5 µs (a request).')
    expect(findingsChart(found.findings).panels[0]?.dots.map(({ text, value }) => [text, value])).toEqual([
      ['worse', undefined],
      ['no clear difference', undefined],
      ['better', undefined],
    ])
  })

  it('is that of our default, also where its figure is negative, and never that of another way of ours', () => {
    const rows = (own: Row['cells']) => [
      limiter('Sluice, bare', 'ours', 10),
      limiter('Sluice', 'ours', 10, { cells: own }),
      limiter('Lua', 'baseline', 5),
    ]
    const found = (own: Row['cells']) => findingsOf(suiteOf({ ...TABLE, rows: rows(own) })).findings
    expect(found(bounds(-1, 1))).toMatchObject([{ ours: { name: 'Sluice', value: 0 }, verdict: 'better' }])
    expect(found({ time: Number.NaN })).toEqual([])
  })

  it('is the first figure with its goal where nothing is ranked', () => {
    const readings = [{ name: 'check', unit: 'x', value: 1.5, goal: { atMost: 2 }, mark: 'reached' } as const]
    const results = { ...suiteOf(), parts: [{ ...partOf('hot'), readings }] }
    expect(headline(findingsOf(results), results.parts)).toBe('hot: check 1.50 x, goal <= 2: reached.')
    expect(headline(findingsOf(suiteOf()), [])).toBe('No ranking has both a way of ours and another one.')
  })
})

describe('the report', () => {
  it('shows texts as texts, whatever they contain, and figures that were not numbers', () => {
    const hostile = '</script><script>alert("&")</script>'
    const rows = [limiter(hostile, 'peer', 1, { disturbed: hostile }), limiter('none', 'peer', Number.NaN)]
    const results = { ...suiteOf({ ...TABLE, title: hostile, rows, notes: [hostile] }), title: hostile }
    // As it is after it was written and read: JSON has no NaN.
    const read = JSON.parse(JSON.stringify(results)) as SuiteResults
    const html = reportHtml([read]) + suiteHtml(read, (_, name) => `<i data-name="${escaped(name)}"></i>`)
    expect(html).not.toContain('<script>alert')
    expect(html).toContain('&lt;/script>&lt;script>alert(&quot;&amp;&quot;)')
    expect(html).toMatch(/<td>\?<small>\? \.\. \?<\/small>/)
  })

  it('has the overview, the numbers of plots and escaped bars in Markdown too', () => {
    const [results] = fullResults({ suites: 1, parts: 1, loads: 1, readings: 1 }) as [SuiteResults]
    const text = reportMarkdown([{ ...results, suite: 'a|b' }])
    expect(text).toContain('| suite | first finding | ours in all rankings |')
    expect(text).toContain('| a\\|b | part-0, hot_key, 1 callers: Sluice ')
    expect(text).toContain('| callers | Sluice | Sluice with strict leases')
    expect(text).toContain(
      '- the least that decisions a second, 0 of them [denied flood] could be, against the same baseline: 0.80 x (the clock alone)',
    )
  })

  it('leaves out points of a plot that are not numbers, and rounds the others', () => {
    const points = [
      { x: 1, y: Number.NaN },
      { x: 2, y: 1.23456, low: 1, high: 2 },
    ]
    const drawn = lineChartOf({
      name: 'a',
      title: 'a',
      x: { title: 'x' },
      y: { title: 'y' },
      series: [{ name: 's', kind: 'peer', points }],
    })
    expect(drawn.series).toEqual([{ name: 's', kind: 'peer', points: [{ x: 2, y: 1.235, low: 1, high: 2 }] }])
  })
})
