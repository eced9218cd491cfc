import { LimiterError } from './limiter-error.ts'

/**
 * A misspelt option is a limit that is not there: unknown ones are refused, with what is known.
 * @throws LimiterError INVALID_OPTIONS
 */
export function refuseUnknown(where: string, options: object, known: readonly string[]): void {
  const unknown = Object.keys(options).find((option) => !known.includes(option))
  if (unknown !== undefined) throw new LimiterError('INVALID_OPTIONS', `${where}: unknown option ${unknown}; known are ${known.join(', ')}`)
}

/** A minute: nobody waits longer for a decision. */
const LONGEST_DEADLINE_MS = 60_000

/**
 * Milliseconds a store may take. A deadline that is no number would never pass.
 * @throws LimiterError INVALID_OPTIONS
 */
export function validDeadline(where: string, ms: number): number {
  if (ms > 0 && ms <= LONGEST_DEADLINE_MS) return ms
  throw new LimiterError('INVALID_OPTIONS', `${where}: deadlineMs is ${String(ms)}, expected above 0 and at most ${LONGEST_DEADLINE_MS}`)
}
