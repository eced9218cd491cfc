import { LimiterError } from 'sluice'

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

/** A mistake in the arguments: exit 3. */
export function usage(message: string, options?: ErrorOptions): CommandFailure {
  return new CommandFailure(EXIT.usage, message, options)
}

/** A failure that is not a mistake in the arguments: exit 1. */
export function failed(message: string, options?: ErrorOptions): CommandFailure {
  return new CommandFailure(EXIT.failed, message, options)
}

/** The result of `read`, which reads an argument. @throws CommandFailure exit 3 if it throws a LimiterError */
export function argumentOf<T>(verb: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof LimiterError) throw usage(`${verb}: ${error.message}`, { cause: error })
    throw error
  }
}
