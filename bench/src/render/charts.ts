import type { Plot, Series } from '../result/plot.ts'
import { isSpread, isWrong, type Cell, type Column, type Row, type Table } from '../result/table.ts'
import { byLoad } from './by-load.ts'
import { columnAmount, unitText } from './cells.ts'
import type { Finding, Verdict } from './findings.ts'
import { figure } from './columns.ts'

/** A row of a dot plot. Without a value it is drawn as a name and the text alone. */
export interface Dot {
  readonly name: string
  readonly kind: Row['kind']
  readonly value?: number
  /** The quartiles, if there were several measurements. */
  readonly low?: number
  readonly high?: number
  /** The value with its unit, and what a reader must know before believing it. */
  readonly text: string
  /** Set if the row let too many requests pass or gave wrong answers. Its value is worthless, so its dot is drawn hollow. */
  readonly wrong?: true
}

/** Rows under one load, best first. All panels of a plot have one axis. */
export interface Panel {
  readonly title?: string
  readonly dots: readonly Dot[]
}

export interface DotChart {
  readonly type: 'dots'
  readonly axis: string
  readonly log: boolean
  /** From the least to the greatest value that is drawn, quartiles included. */
  readonly domain: readonly [number, number]
  /** The value at which a line for comparison is drawn, such as 1 in a chart of ratios. */
  readonly line?: number
  readonly panels: readonly Panel[]
}

export interface LineChart extends Pick<Plot, 'x' | 'y' | 'series'> {
  readonly type: 'lines'
  readonly steps: boolean
}

/** What the script of the report draws, as plain JSON. */
export type Chart = DotChart | LineChart

/** Beyond this factor between the greatest and the least value, small ones could not be distinguished on a linear axis. */
const LOG_FROM = 20
const DIGITS = 4

/** The ranked column of a table as dots with quartiles, a panel for each load; undefined for a table without a rank. */
export function dotChartOf({ rank, columns, rows }: Table): DotChart | undefined {
  const column = columns.find(({ key }) => key === rank?.column)
  if (rank === undefined || column === undefined) return undefined
  const named = rows.map((row, index) => ({ ...row, name: fullName(rows, index) }))
  const groups = byLoad(named)
  // A load with one row needs no panel of its own.
  const single = groups.size === named.length
  const dotOf = (row: Row): Dot => dot(row, single && row.load !== undefined ? `${row.name}, ${row.load}` : row.name, column)
  const sign = rank.best === 'least' ? 1 : -1
  const panels = (single ? [[undefined, named] as const] : [...groups]).map(([load, members]) => ({
    ...(load === undefined ? {} : { title: load }),
    dots: members.map(dotOf).sort((one, other) => sign * (sortable(one, sign) - sortable(other, sign))),
  }))
  const better = rank.best === 'least' ? 'less is better' : 'more is better'
  return chartOf(panels, `${column.title}${column.unit === undefined ? '' : ` in ${unitText(column.unit)}`}, ${better}`)
}

const VERDICTS: Readonly<Record<Verdict, string>> = { better: 'better', worse: 'worse', alike: 'no clear difference' }

/**
 * Draws how Sluice compares in each ranking. A ratio above 1 means that Sluice is better than the best other limiter. A finding without a
 * ratio is shown as its verdict alone.
 */
export function findingsChart(findings: readonly Finding[]): DotChart {
  const dots = findings.map(({ title, verdict, ratio }): Dot => {
    if (ratio === undefined) return { name: title, kind: 'ours', text: VERDICTS[verdict] }
    return { name: title, kind: 'ours', value: ratio.median, low: ratio.low, high: ratio.high, text: `${figure(ratio.median, 2)} ×` }
  })
  const panels = [{ dots: dots.map(rounded) }]
  // On a logarithmic axis, half as good is as far from 1 as twice as good.
  return {
    type: 'dots',
    axis: 'times as good as the best other way, more is better',
    log: true,
    domain: rangeOf(panels, [1]),
    line: 1,
    panels,
  }
}

export function lineChartOf({ x, y, series, steps = false }: Plot): LineChart {
  return { type: 'lines', x, y, steps, series: series.map(roundedSeries) }
}

function chartOf(panels: readonly Panel[], axis: string): DotChart {
  const [least, most] = rangeOf(panels)
  const log = least > 0 && most / least > LOG_FROM
  // A linear axis begins at 0, so that distances from its begin can be compared too.
  return { type: 'dots', axis, log, domain: log ? [least, most] : [Math.min(0, least), Math.max(most, 0)], panels }
}

/** The least and the greatest value of all panels, quartiles and `more` included; 0 to 1 without values. */
function rangeOf(panels: readonly Panel[], more: readonly number[] = []): [number, number] {
  const values = panels.flatMap(({ dots }) => dots.flatMap(({ value, low, high }) => [value, low, high]))
  const all = [...more, ...values.filter((value) => value !== undefined)]
  return all.length === 0 ? [0, 1] : [Math.min(...all), Math.max(...all)]
}

/**
 * The full name of a row. In a table, a name that begins with spaces continues that of a row above. A plot has another order, so it needs
 * both.
 */
function fullName(rows: readonly Row[], index: number): string {
  const { name } = rows[index] as Row
  if (!name.startsWith(' ')) return name
  const above = rows.slice(0, index).findLast((row) => !row.name.startsWith(' '))
  return above === undefined ? name.trim() : `${above.name}, ${name.trim()}`
}

function dot(row: Row, name: string, column: Column): Dot {
  const { kind, disturbed } = row
  const figures = figuresOf(row.cells[column.key])
  const marks = [...(isWrong(row) ? ['WRONG'] : []), ...(disturbed === undefined ? [] : ['disturbed'])]
  const text = [figures === undefined ? 'no figure' : columnAmount(figures.value, column), ...marks].join(', ')
  return rounded({ name, kind, ...figures, text, ...(isWrong(row) ? { wrong: true } : {}) })
}

function figuresOf(cell: Cell): { value: number; low?: number; high?: number } | undefined {
  if (isSpread(cell)) return Number.isFinite(cell.median) ? { value: cell.median, low: cell.low, high: cell.high } : undefined
  // JSON has no NaN: a figure that was not a number is null in results that were read.
  return typeof cell === 'number' && Number.isFinite(cell) ? { value: cell } : undefined
}

/** Rows without a figure are last. */
function sortable({ value }: Dot, sign: number): number {
  return value ?? sign * Number.MAX_VALUE
}

/** Plots need few digits, and the report must stay small. */
function rounded(drawn: Dot): Dot {
  const { value, low, high } = drawn
  return { ...drawn, ...short({ value, low, high }) }
}

function roundedSeries({ name, kind, points }: Series): Series {
  const complete = points.filter(({ x, y }) => Number.isFinite(x) && Number.isFinite(y))
  return { name, kind, points: complete.map(({ x, y, low, high }) => ({ x, y, ...short({ x, y, low, high }) })) }
}

function short<Key extends string>(numbers: Readonly<Record<Key, number | undefined>>): Partial<Record<Key, number>> {
  const entries = Object.entries<number | undefined>(numbers).filter(([, value]) => Number.isFinite(value))
  return Object.fromEntries(entries.map(([key, value]) => [key, Number((value as number).toPrecision(DIGITS))])) as Partial<
    Record<Key, number>
  >
}
