import type { Part, PartOptions } from '../part.ts'
import { readingsTable, tallyText } from '../reading-text.ts'
import { markOf, type Reading } from '../reading.ts'

export interface PartsResult {
  /** A table of each part, then how often each mark was given. */
  readonly texts: readonly string[]
  /** By the parts' names. */
  readonly results: Readonly<Record<string, unknown>>
}

/** Measures one part after the other. */
export async function runParts<Options extends PartOptions>(parts: readonly Part<Options>[], options: Options): Promise<PartsResult> {
  const texts: string[] = []
  const results: Record<string, unknown> = {}
  const all: Reading[] = []
  for (const part of parts) {
    const { readings, notes } = await part.run({ ...options, say: (line) => options.say(`${part.name}: ${line}`) })
    all.push(...readings)
    results[part.name] = { readings: readings.map((reading) => ({ ...reading, mark: markOf(reading) })), notes }
    texts.push([`${part.name.toUpperCase()}  ${part.title}`, readingsTable(readings), ...notes].join('\n'))
  }
  return { texts: [...texts, tallyText(all)], results }
}
