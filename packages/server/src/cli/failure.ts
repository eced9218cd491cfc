import { constants } from 'node:os'
import { LimiterError } from 'sluice'

/** Exit codes of the command; scripts rely on them. */
export const EXIT = { ok: 0, failed: 1, unreachable: 2, usage: 3 } as const

export class CommandFailure extends Error {
  readonly exitCode: number

  constructor(exitCode: number, message: string, options?: ErrorOptions) {
    super(message, options)
    this.exitCode = exitCode
  }
}

const ending = (exitCode: number) => (message: string, options?: ErrorOptions) => new CommandFailure(exitCode, message, options)
/** A mistake in the arguments: exit 3. */
export const usage = ending(EXIT.usage)
/** A server cannot be reached: exit 2. */
export const unreachable = ending(EXIT.unreachable)
/** Any other failure: exit 1. */
export const failed = ending(EXIT.failed)

/** 128 plus the signal's number, as shells report it: 130 for SIGINT. */
export function stoppedBy(verb: string, signal: NodeJS.Signals): CommandFailure {
  return new CommandFailure(128 + constants.signals[signal], `${verb}: stopped by ${signal}`)
}

/** A value is missing, or cannot be used: exit 3. */
export function wrongValue(what: string, value: string | undefined, expected: string): CommandFailure {
  return usage(`${what} is ${value === undefined ? 'missing' : JSON.stringify(value)}: expected ${expected}`)
}

/** @throws CommandFailure exit 3 if `read` throws a LimiterError */
export function argumentOf<T>(verb: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof LimiterError) throw usage(`${verb}: ${error.message}`, { cause: error })
    throw error
  }
}
