import type { Io } from './io.ts'
import type { ParsedArguments } from './verb.ts'

/** Prints a result as text for a person, or with `--json` as JSON for a program. */
export function print(io: Io, args: ParsedArguments, answer: unknown, text: () => readonly string[]): void {
  io.out(args.switch('json') ? `${JSON.stringify(answer, undefined, 2)}\n` : `${text().join('\n')}\n`)
}
