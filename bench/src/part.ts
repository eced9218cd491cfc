import type { Engines } from './engines.ts'
import type { Plot } from './result/plot.ts'
import type { Reading } from './result/reading.ts'
import type { Depth } from './result/suite-result.ts'
import type { Table } from './result/table.ts'

export interface PartOptions {
  /** Seconds for one comparison. Fixed numbers of keys and of requests do not change with it. */
  readonly seconds: number
  /** A quick run may leave out loads (`Part.fullOnly`), but no contestant. */
  readonly depth: Depth
  readonly say: (line: string) => void
  /** Registers what must be undone at the end, even if the run is interrupted. */
  readonly atEnd: (undo: () => Promise<void>) => void
  /** Private servers, each started when it is first needed. */
  readonly engines: Engines
}

/** What a part measured. Each field may be absent. */
export interface PartResult {
  /** Figures with goals. */
  readonly readings?: readonly Reading[]
  readonly tables?: readonly Table[]
  readonly plots?: readonly Plot[]
  /** Sentences: how it was measured, and what the figures do not say. */
  readonly notes?: readonly string[]
  /** Further measurements as plain JSON, if readings and tables do not contain all. */
  readonly figures?: unknown
}

/** A part of a suite: figures that are measured together. It can be chosen by name. */
export interface Part {
  readonly name: string
  readonly title: string
  /** A load that a quick run leaves out unless it is named, because other parts measure its contestants under other loads. */
  readonly fullOnly?: true
  run(options: PartOptions): Promise<PartResult>
}
