import type { Machine } from '../machine/machine.ts'
import type { Plot } from './plot.ts'
import type { Mark, Reading } from './reading.ts'
import type { Table } from './table.ts'

/** `quick`: less time for each comparison, and fewer loads. */
export type Depth = 'quick' | 'full'

/** What a part measured, with all that is needed to render it again. It is plain JSON. */
export interface PartResults {
  readonly name: string
  readonly title: string
  /** When it was measured (ISO 8601), and for how many seconds. */
  readonly began: string
  readonly took: number
  /** The seconds of one comparison. */
  readonly seconds: number
  readonly depth: Depth
  /** The machine at that time. */
  readonly machine: Machine
  /** The servers that were used, with versions and settings, in words. */
  readonly servers: string
  /** What else used the machine during the part; absent if nothing did. */
  readonly disturbed?: string
  readonly readings: readonly (Reading & { readonly mark: Mark })[]
  readonly tables: readonly Table[]
  readonly plots: readonly Plot[]
  readonly notes: readonly string[]
  /** Further measurements, if tables and readings do not contain all. */
  readonly figures?: unknown
}

/** The file `SUITE.json` of a folder with results. */
export interface SuiteResults {
  readonly format: 1
  readonly suite: string
  readonly title: string
  /** The title of the document whose figures it reproduces. */
  readonly document?: string
  readonly parts: readonly PartResults[]
}
