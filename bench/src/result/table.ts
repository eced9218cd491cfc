import type { Unit } from './reading.ts'
import type { Spread } from './statistics.ts'

/** A figure, several measurements of it, a text, or nothing where a row has no such figure. */
export type Cell = number | Spread | string | undefined

export interface Column {
  /** The name under which rows have its cells. */
  readonly key: string
  readonly title: string
  /** The unit of its numbers; without one they are plain counts. */
  readonly unit?: Unit
  /** Decimals of its numbers; default those of the unit, otherwise 0. */
  readonly decimals?: number
}

/** The requests allowed beyond the permitted number, in percent of that number; or why nobody could count them. */
export type OverGrant = number | { readonly notAudited: string }

interface Named {
  readonly name: string
  /** The load of the row, such as `hot_key, 64 callers`, if the table shows several. Rows are ranked within a load. */
  readonly load?: string
  readonly cells: Readonly<Record<string, Cell>>
}

/** A limiter that was measured. Speed without correctness says nothing, so each row states its over-grant. */
export interface ContestantRow extends Named {
  readonly kind: 'ours' | 'baseline' | 'peer'
  readonly overGrant: OverGrant
  /** Answers that are wrong under this load, such as a denial if all may pass. */
  readonly wrongAnswers?: number
  /** What else used the machine while this row was measured, in words; absent if nothing did. */
  readonly disturbed?: string
}

/**
 * A figure that no limiter could pass (`floor`), one that a document states and this run did not measure (`quoted`), or one that was
 * computed from other figures (`computed`).
 */
export interface OtherRow extends Named {
  readonly kind: 'floor' | 'quoted' | 'computed'
  readonly disturbed?: string
}

export type Row = ContestantRow | OtherRow

/** A table of measurements. Text, Markdown, JSON and the report are all made from it. */
export interface Table {
  /** Unique within its part; part of a block's name in documents. */
  readonly name: string
  readonly title: string
  readonly columns: readonly Column[]
  readonly rows: readonly Row[]
  /** The title of the first column; default `way`. */
  readonly first?: string
  /** The column by which rows are ranked and drawn, and whether little or much is good. */
  readonly rank?: { readonly column: string; readonly best: 'least' | 'most' }
  /** Sentences below the table. */
  readonly notes?: readonly string[]
}

export function isSpread(cell: Cell): cell is Spread {
  // JSON has no NaN: in results that were read, a figure that was not a number is null.
  return typeof cell === 'object' && cell !== null
}

/** What makes a row's speed worthless: too many allowed, or wrong answers. */
export function isWrong(row: Row): boolean {
  if (!('overGrant' in row)) return false
  return (typeof row.overGrant === 'number' && row.overGrant > 0) || (row.wrongAnswers ?? 0) > 0
}
