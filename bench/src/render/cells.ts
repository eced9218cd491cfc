import { type Cell, type Column, isSpread, isWrong, type Row, type Table } from '../result/table.ts'
import type { Unit } from '../result/reading.ts'
import { figure, percent } from './columns.ts'

export const DECIMALS: Readonly<Record<Unit, number>> = { x: 2, ns: 0, us: 2, ms: 2, s: 0, bytes: 0, calls: 3, '%': 2 }

/** A value with its unit, such as `1.97 x` or `3.02 us`. */
export function amount(value: number, unit: Unit): string {
  return `${Number.isNaN(value) ? '?' : figure(value, DECIMALS[unit])} ${unit}`
}

/** A unit as the report shows it. Terminals and documents show `us` and `x`, as the results do. */
export function unitText(unit: Unit): string {
  return unit === 'us' ? 'µs' : unit === 'x' ? '×' : unit
}

/** A number of a column, with its unit if the column has one. */
export function columnAmount(value: number, { unit, decimals }: Pick<Column, 'unit' | 'decimals'>): string {
  const text = figure(value, decimals ?? (unit === undefined ? 0 : DECIMALS[unit]))
  return unit === undefined ? text : `${text} ${unitText(unit)}`
}

/** A table as texts: its heading, and a line of cells for each row. The last columns are over-grant and remarks. */
export interface CellTexts {
  readonly heading: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

/** The texts of a table. Several measurements are shown as their median, with the quartiles in parentheses. */
export function cellTexts({ first = 'way', columns, rows }: Pick<Table, 'first' | 'columns' | 'rows'>): CellTexts {
  const loads = rows.some(({ load }) => load !== undefined)
  const remarks = rows.some((row) => remarkOf(row) !== '')
  return {
    heading: [first, ...(loads ? ['load'] : []), ...columns.map((column) => headOf(column)), 'over-grant', ...(remarks ? [''] : [])],
    rows: rows.map((row) => [
      row.name,
      ...(loads ? [row.load ?? ''] : []),
      ...columns.map((column) => cellLine(cellParts(row.cells[column.key], column))),
      overGrantText(row),
      ...(remarks ? [remarkOf(row)] : []),
    ]),
  }
}

/** The title of a column with its unit. Percentages have theirs in the cells. */
export function headOf({ title, unit }: Column, unitAs: (unit: Unit) => string = String): string {
  return unit === undefined || unit === '%' ? title : `${title} (${unitAs(unit)})`
}

/** A cell as text: the median apart from the quartiles, if there were several measurements. */
export interface CellParts {
  readonly text: string
  readonly quartiles?: string
}

export function cellParts(cell: Cell, column: Pick<Column, 'unit' | 'decimals'>): CellParts {
  if (cell === undefined) return { text: '' }
  if (typeof cell === 'string') return { text: cell }
  // JSON has no NaN: in results that were read, a figure that was not a number is null.
  const of = (value: number | null): string => {
    if (value === null || Number.isNaN(value)) return '?'
    const { unit } = column
    return figure(value, column.decimals ?? (unit === undefined ? 0 : DECIMALS[unit])) + (unit === '%' ? ' %' : '')
  }
  return isSpread(cell) ? { text: of(cell.median), quartiles: `${of(cell.low)} .. ${of(cell.high)}` } : { text: of(cell) }
}

/** Both in one line. */
export function cellLine({ text, quartiles }: CellParts): string {
  return quartiles === undefined ? text : `${text} (${quartiles})`
}

export function overGrantText(row: Row): string {
  if (!('overGrant' in row)) return ''
  return typeof row.overGrant === 'number' ? percent(row.overGrant) : 'not audited'
}

/** What a reader must know before believing the row. */
function remarkOf(row: Row): string {
  const parts = [
    ...(isWrong(row) ? ['WRONG'] : []),
    ...(row.kind === 'floor' || row.kind === 'quoted' || row.kind === 'computed' ? [row.kind] : []),
    ...(row.disturbed === undefined ? [] : [`disturbed: ${row.disturbed}`]),
  ]
  return parts.join('; ')
}

/** Why rows have no over-grant, each reason once, with the rows. */
export function notAudited(rows: readonly Row[]): string[] {
  const reasons = new Map<string, Set<string>>()
  for (const row of rows) {
    if (!('overGrant' in row) || typeof row.overGrant === 'number') continue
    const { notAudited: reason } = row.overGrant
    reasons.set(reason, (reasons.get(reason) ?? new Set()).add(row.name))
  }
  const quoted = (names: ReadonlySet<string>): string => [...names].map((name) => `\`${name}\``).join('; ')
  return [...reasons].map(
    ([reason, names]) => `Over-grant was not measured in the rows marked \`not audited\` (${reason}): ${quoted(names)}.`,
  )
}
