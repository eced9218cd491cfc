import type { Reading } from './reading.ts'

export interface PartOptions {
  /** Time for one comparison; counts of keys and of requests stay as they are. */
  readonly seconds: number
  readonly say: (line: string) => void
  /** Hands out what must be undone even if the run is cut short. */
  readonly atEnd: (undo: () => Promise<void>) => void
}

export interface PartResult {
  readonly readings: readonly Reading[]
  /** What the table cannot say: how it was measured, and other figures of the same run. */
  readonly notes: readonly string[]
  /** Plain JSON: what was measured, where readings do not hold all of it. */
  readonly figures?: unknown
  /** What documents show of it, as Markdown; default: the readings. */
  readonly document?: string
}

/** Figures that are measured together and can be chosen by name. */
export interface Part<Options extends PartOptions = PartOptions> {
  readonly name: string
  readonly title: string
  run(options: Options): Promise<PartResult>
}
