import type { Io } from './io.ts'

export interface Flag {
  /** The placeholder of the value in the help, such as `URL`; a flag without one is a switch. */
  readonly value?: string
  readonly does: string
  readonly repeat?: true
}

/** The parsed arguments of a command line, checked against the verb's flags. */
export interface ParsedArguments {
  readonly words: readonly string[]
  switch(name: string): boolean
  text(name: string): string | undefined
  texts(name: string): readonly string[]
}

/** A verb of the command: its arguments, its help and its action. */
export interface Verb {
  readonly name: string
  /** Names of its positional arguments; optional ones are in brackets. */
  readonly words: readonly string[]
  readonly does: string
  readonly flags: Readonly<Record<string, Flag>>
  /** Command lines that work, without the leading `sluice`. */
  readonly examples: readonly string[]
  /** Runs the verb. @throws CommandFailure with the exit code and one line */
  run(args: ParsedArguments, io: Io): Promise<void> | void
}

export const JSON_FLAG: Flag = { does: 'the answer as JSON' }

/** Prints a result as text for a person, or with `--json` as JSON for a program. */
export function print(io: Io, args: ParsedArguments, result: unknown, text: () => readonly string[]): void {
  io.out(args.switch('json') ? `${JSON.stringify(result, undefined, 2)}\n` : `${text().join('\n')}\n`)
}
