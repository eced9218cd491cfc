import type { Plot } from '../result/plot.ts'
import type { CellParts } from './cells.ts'

/** The numbers of a plot as a table: a row for each x, and a column for each series. */
export interface PlotNumbers {
  readonly heading: readonly string[]
  readonly rows: readonly (readonly CellParts[])[]
}

/** A plot with more numbers than this is shown without its numbers. */
const MAX_NUMBERS = 600

/** The numbers of a plot; undefined if there are too many for a table. */
export function plotNumbers({ x, series }: Plot): PlotNumbers | undefined {
  const at = [...new Set(series.flatMap(({ points }) => points.map((point) => point.x)))].sort((one, other) => one - other)
  if (at.length * series.length > MAX_NUMBERS) return undefined
  const bySeries = series.map(({ points }) => new Map(points.map((point) => [point.x, point])))
  const rows = at.map((value) => {
    const cells = bySeries.map((points): CellParts => {
      const point = points.get(value)
      if (point === undefined) return { text: '' }
      const { y, low, high } = point
      return { text: digits(y), ...(low === undefined || high === undefined ? {} : { quartiles: `${digits(low)} .. ${digits(high)}` }) }
    })
    return [{ text: digits(value) }, ...cells]
  })
  return { heading: [x.title, ...series.map(({ name }) => name)], rows }
}

const FORMAT = new Intl.NumberFormat('en-US', { maximumSignificantDigits: 4 })

function digits(value: number): string {
  return FORMAT.format(value)
}
