import type { Io } from './io.ts'

/** One flag of a verb. */
export interface Flag {
  /** What stands for the value in the help, such as `URL`; without one the flag is a switch. */
  readonly value?: string
  readonly does: string
  /** May be given more than once. */
  readonly repeat?: true
}

/** What was given on the command line, checked against the verb's own flags. */
export interface Given {
  /** The positional arguments, in order. */
  readonly words: readonly string[]
  switch(name: string): boolean
  text(name: string): string | undefined
  texts(name: string): readonly string[]
}

/** One verb of the command: what it takes, what its help says, and what it does. */
export interface Verb {
  readonly name: string
  /** Its positional arguments by name, in brackets where they may be left out. */
  readonly words: readonly string[]
  readonly does: string
  readonly flags: Readonly<Record<string, Flag>>
  /** Command lines that work, without the leading `sluice`. */
  readonly examples: readonly string[]
  /** Resolves when it is done. @throws CommandFailure with the exit code and one line */
  run(given: Given, io: Io): Promise<void> | void
}

export const JSON_FLAG: Flag = { does: 'the answer as JSON' }
