import type { Io } from './io.ts'

/** The parsed arguments of a command line, checked against the verb's flags, and completed from the environment. */
export interface ParsedArguments {
  readonly words: readonly string[]
  switch(name: string): boolean
  text(name: string): string | undefined
  texts(name: string): readonly string[]
  /** What gave the flag its value: the command line or the environment; undefined if neither did. */
  origin(name: string): 'flag' | 'variable' | undefined
  /** The name under which the value was given, for messages: `--store` or `SLUICE_STORE`. */
  called(name: string): string
}

/** A verb of the command: its arguments, its help and its action. */
export interface Verb {
  readonly name: string
  /** Names of the positional arguments; optional ones are in brackets. */
  readonly words: readonly string[]
  /** The allowed values of the first argument, if there are only a few. Completions offer them. */
  readonly choices?: readonly string[]
  readonly does: string
  /** What each flag does. `json` is a switch, `store URL` needs a value, and `header NAME:VALUE...` may be repeated. */
  readonly flags: Readonly<Record<string, string>>
  /** Example command lines, without the leading `sluice`. */
  readonly examples: readonly string[]
  /** Runs the verb. @throws CommandFailure with the exit code and one line */
  run(args: ParsedArguments, io: Io): Promise<void> | void
}

export const JSON_FLAG = 'the answer as JSON'

/** Prints a result as text for a person, or with `--json` as JSON for a program. */
export function print(io: Io, args: ParsedArguments, result: unknown, text: () => readonly string[]): void {
  io.out(args.switch('json') ? `${JSON.stringify(result, undefined, 2)}\n` : `${text().join('\n')}\n`)
}
