import type { Io } from './io.ts'

export interface ParsedArguments {
  readonly words: readonly string[]
  switch(name: string): boolean
  text(name: string): string | undefined
  texts(name: string): readonly string[]
  /** Undefined if neither command line nor environment gave a value. */
  origin(name: string): 'flag' | 'variable' | undefined
  /** `--store` or `SLUICE_STORE`, for messages. */
  called(name: string): string
}

export interface Verb {
  readonly name: string
  /** Positional arguments; optional ones are in brackets. */
  readonly words: readonly string[]
  /** The allowed values of the first argument, for completions. */
  readonly choices?: readonly string[]
  readonly does: string
  /** `json` is a switch, `store URL` needs a value, and `header NAME:VALUE...` may be repeated. */
  readonly flags: Readonly<Record<string, string>>
  /** Without the leading `sluice`. */
  readonly examples: readonly string[]
  /** @throws CommandFailure with the exit code and one line */
  run(args: ParsedArguments, io: Io): Promise<void> | void
}

export const JSON_FLAG = 'the answer as JSON'

/** Prints JSON with `--json`, else the text. */
export function print(io: Io, args: ParsedArguments, result: unknown, text: () => readonly string[]): void {
  io.out(args.switch('json') ? `${JSON.stringify(result, undefined, 2)}\n` : `${text().join('\n')}\n`)
}
