import { figure } from './render/columns.ts'
import type { Spread } from './result/statistics.ts'
import type { SuiteResults } from './result/suite-result.ts'
import { type Cell, isSpread, type Row, type Table } from './result/table.ts'

export interface RunsCompared {
  readonly text: string
  /** Pairs of rows that could be compared. */
  readonly pairs: number
  /**
   * Whether no pair of rows changed its order between the runs. Pairs with a row that was measured while other work used the machine do not
   * count.
   */
  readonly alike: boolean
}

/** A table, with the names of its suite and its part. */
interface NamedTable {
  readonly where: string
  readonly table: Table
}

interface TablesCompared {
  readonly pairs: number
  /**
   * The number of pairs whose medians differ, in both runs, by more than the widths of both spreads together. `doubtful` counts those of
   * them with a row that was measured while other work used the machine.
   */
  readonly apart: number
  readonly doubtful: number
  /** The pairs whose order differs between the runs. */
  readonly swaps: readonly string[]
  /** The pairs whose order differs, but with a row that was measured while other work used the machine. So their order says little. */
  readonly disturbed: readonly string[]
  /** Rows of the first run that the second one lacks. */
  readonly missing: readonly string[]
  /**
   * The number of rows that are not compared, because their figure has no spread in one of the runs. Any noise would count as a difference.
   */
  readonly single: number
}

/** Compares the ranking of every table that has one, within each load. */
export function compareRuns(before: readonly SuiteResults[], after: readonly SuiteResults[]): RunsCompared {
  const lines: string[] = []
  const remarks = differentDepths(before, after)
  let [tables, pairs, apart, doubtful, single, swapped, disturbed] = [0, 0, 0, 0, 0, 0, 0]
  const others = tablesOf(after)
  for (const { where, table } of tablesOf(before)) {
    if (table.rank === undefined) continue
    const again = others.find((one) => one.where === where)?.table
    if (again === undefined) {
      remarks.push(`MISSING in the second run: ${where}`)
      continue
    }
    const found = compareTables(table, again, table.rank.column)
    remarks.push(...found.missing.map((row) => `MISSING in the second run: ${where}${row}`))
    remarks.push(...found.swaps.map((swap) => `SWAPPED in ${where}${swap}`))
    remarks.push(...found.disturbed.map((swap) => `swapped while other work disturbed them: ${where}${swap}`))
    lines.push(`${where}: ${found.apart} of ${found.pairs} pairs further apart than their spreads, ${found.swaps.length} swapped`)
    tables += 1
    pairs += found.pairs
    apart += found.apart
    doubtful += found.doubtful
    single += found.single
    swapped += found.swaps.length
    disturbed += found.disturbed.length
  }
  if (single > 0) remarks.push(`not compared, because they have no spread: ${figure(single)} rows`)
  const verdict = swapped > 0 ? 'NOT ALIKE' : disturbed > 0 ? 'ALIKE but for disturbed rows' : 'ALIKE'
  const counted = [
    `${figure(tables)} tables with ${figure(pairs)} pairs of rows`,
    `${figure(apart)} further apart than their spreads in both runs, ${figure(doubtful)} of them disturbed`,
    `${figure(swapped + disturbed)} swapped, ${figure(disturbed)} of them disturbed`,
  ]
  return { text: [...lines, ...remarks, `${verdict}: ${counted.join('; ')}`].join('\n'), pairs, alike: swapped === 0 }
}

/** A line for each part that is quick in one run and full in the other: a quick part compares for a shorter time, and leaves out loads. */
function differentDepths(before: readonly SuiteResults[], after: readonly SuiteResults[]): string[] {
  return before.flatMap(({ suite, parts }) => {
    const others = after.find((one) => one.suite === suite)?.parts
    return parts.flatMap(({ name, depth }) => {
      const other = others?.find((part) => part.name === name)?.depth ?? depth
      return other === depth ? [] : [`DIFFERENT: ${suite} ${name} is ${depth} in the first run and ${other} in the second`]
    })
  })
}

function tablesOf(suites: readonly SuiteResults[]): NamedTable[] {
  return suites.flatMap(({ suite, parts }) =>
    parts.flatMap(({ name, tables }) => tables.map((table) => ({ where: `${suite} ${name} ${table.name}`, table }))),
  )
}

function compareTables(before: Table, after: Table, column: string): TablesCompared {
  const [missing, swaps, disturbed]: [string[], string[], string[]] = [[], [], []]
  const ranges: { readonly row: Row; readonly first: Spread; readonly second: Spread; readonly wasDisturbed: boolean }[] = []
  let [single, pairs, apart, doubtful] = [0, 0, 0, 0]
  for (const row of before.rows) {
    const again = after.rows.find(({ name, load }) => name === row.name && load === row.load)
    if (again === undefined) missing.push(`${loadOf(row)}: ${row.name}`)
    if (again === undefined || row.kind === 'quoted') continue
    const [cell, other] = [row.cells[column], again.cells[column]]
    const [first, second] = [spreadIn(cell), spreadIn(other)]
    const wasDisturbed = row.disturbed !== undefined || again.disturbed !== undefined
    if (first !== undefined && second !== undefined) ranges.push({ row, first, second, wasDisturbed })
    else if (isFigure(cell) || isFigure(other)) single += 1
  }
  for (const [index, one] of ranges.entries()) {
    for (const next of ranges.slice(index + 1)) {
      if (next.row.load !== one.row.load) continue
      pairs += 1
      const [order, again] = [orderOf(one.first, next.first), orderOf(one.second, next.second)]
      if (order === 0 || again === 0) continue
      apart += 1
      const wasDisturbed = one.wasDisturbed || next.wasDisturbed
      if (wasDisturbed) doubtful += 1
      const named = wasDisturbed ? disturbed : swaps
      if (order !== again) named.push(`${loadOf(one.row)}: ${one.row.name} and ${next.row.name}`)
    }
  }
  return { pairs, apart, doubtful, swaps, disturbed, missing, single }
}

function loadOf({ load }: Row): string {
  return load === undefined ? '' : `, ${load}`
}

/** The order of two figures: -1 or 1 if their medians differ by more than the widths of both spreads together, otherwise 0. */
function orderOf(one: Spread, other: Spread): -1 | 0 | 1 {
  const spread = one.high - one.low + (other.high - other.low)
  if (Math.abs(one.median - other.median) <= spread) return 0
  return one.median < other.median ? -1 : 1
}

/** The spread in a cell; undefined for any other cell, and for a spread without a width, as of a single measurement. */
function spreadIn(cell: Cell): Spread | undefined {
  return isSpread(cell) && cell.low < cell.high ? cell : undefined
}

function isFigure(cell: Cell): boolean {
  return typeof cell === 'number' || isSpread(cell)
}
