import type { Io } from './io.ts'
import type { Given } from './verb.ts'

/** Prints a result as text for a person, or with `--json` as JSON for a program. */
export function print(io: Io, given: Given, answer: unknown, text: () => readonly string[]): void {
  io.out(given.switch('json') ? `${JSON.stringify(answer, undefined, 2)}\n` : `${text().join('\n')}\n`)
}
