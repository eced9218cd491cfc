/** Exit codes of the command; scripts rely on them. */
export const EXIT = { ok: 0, failed: 1, unreachable: 2, usage: 3 } as const

/** Ends a command: one readable line for a person, and the exit code. */
export class CommandFailure extends Error {
  readonly exitCode: number

  constructor(exitCode: number, message: string, options?: ErrorOptions) {
    super(message, options)
    this.exitCode = exitCode
  }
}
