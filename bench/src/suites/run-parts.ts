import type { Part, PartOptions } from '../part.ts'
import { readingsMarkdown, readingsTable, tallyText } from '../reading-text.ts'
import { markOf, type Reading } from '../reading.ts'

export interface PartsResult {
  /** A table of each part, then how often each mark was given. */
  readonly texts: readonly string[]
  /** By the parts' names. */
  readonly results: Readonly<Record<string, unknown>>
  /** By the parts' names: what documents show. */
  readonly documents: Readonly<Record<string, string>>
}

/** The parts that were named, in the suite's order; all of them where none was. */
export function chosenOf<Options extends PartOptions>(
  all: readonly Part<Options>[],
  names: readonly string[] | undefined,
): Part<Options>[] {
  return all.filter(({ name }) => names === undefined || names.includes(name))
}

/** Measures one part after the other. */
export async function runParts<Options extends PartOptions>(parts: readonly Part<Options>[], options: Options): Promise<PartsResult> {
  const texts: string[] = []
  const results: Record<string, unknown> = {}
  const documents: Record<string, string> = {}
  const all: Reading[] = []
  for (const part of parts) {
    const { readings, notes, figures, document } = await part.run({ ...options, say: (line) => options.say(`${part.name}: ${line}`) })
    all.push(...readings)
    results[part.name] = { readings: readings.map((reading) => ({ ...reading, mark: markOf(reading) })), notes, figures }
    documents[part.name] = document ?? readingsMarkdown(readings)
    const tables = readings.length === 0 ? [] : [readingsTable(readings)]
    texts.push([`${part.name.toUpperCase()}  ${part.title}`, ...tables, ...notes].join('\n'))
  }
  return { texts: all.length === 0 ? texts : [...texts, tallyText(all)], results, documents }
}
