import type { Machine } from '../machine.ts'
import { figure } from '../report.ts'

export interface SuiteOptions {
  /** Shortens or lengthens what the suite measures; each suite says what it means. */
  readonly seconds?: number
  /** Only these of the suite's parts; all of them where it is left out. */
  readonly parts?: readonly string[]
  /** Also time the repository's own gates. */
  readonly gates?: boolean
  /** Takes a line about what is going on. */
  readonly say: (line: string) => void
  /** Hands out what must be undone even if the run is cut short, such as stopping a server. */
  readonly atEnd: (undo: () => Promise<void>) => void
}

export interface SuiteResult {
  /** For people. */
  readonly text: string
  /** The same for programs: plain JSON. */
  readonly results: unknown
  /** Machine and versions, in one line. */
  readonly where: string
  /** By the names of the parts that were measured: what documents show of them, as Markdown. */
  readonly documents: Readonly<Record<string, string>>
}

/** A benchmark that can be chosen by name. */
export interface Suite {
  readonly name: string
  /** One line of the usage. */
  readonly summary: string
  /** What `parts` may name. */
  readonly parts?: readonly string[]
  /** Whether it can time the repository's own gates. */
  readonly gates?: boolean
  /** Rejects with MissingEngine where there is nothing to run against. */
  run(options: SuiteOptions): Promise<SuiteResult>
}

/** Machine and versions in one line, for tables and documents. */
export function headOf({ cores, cpu, load, node }: Machine, ...more: readonly string[]): string {
  const busy = load > cores ? ' (busy: times by the clock say little)' : ''
  return [`${cores} cores (${cpu}), load ${figure(load, 2)} at the start${busy}; node ${node}`, ...more].join('; ')
}

/** The server a suite needs is not there; the message is all there is to say. */
export class MissingEngine extends Error {
  override readonly name = 'MissingEngine'
}
