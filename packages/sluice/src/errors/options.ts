import { LimiterError } from './limiter-error.ts'

const LONGEST_SHOWN = 80

/** A value as an error shows it, in one line: also what JSON has no text for, such as NaN, functions and bigints. */
export function shown(value: unknown): string {
  const text = typeof value === 'string' || isPlain(value) ? textOf(value) : kindOf(value)
  return text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}...` : text
}

function isPlain(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  const parent: unknown = Object.getPrototypeOf(value)
  return parent === null || parent === Object.prototype || Array.isArray(value)
}

function textOf(value: unknown): string {
  try {
    return JSON.stringify(value)
  } catch {
    return 'an object'
  }
}

function kindOf(value: unknown): string {
  if (typeof value === 'function') return 'a function'
  if (typeof value !== 'object' || value === null) return String(value)
  return `an object of the class ${value.constructor?.name ?? 'unknown'}`
}

/**
 * Options must be an object, and unknown ones are rejected, because a typo would silently remove a limit.
 * @throws LimiterError INVALID_OPTIONS naming the unknown option and the known ones
 */
export function refuseUnknown(where: string, options: object, known: readonly string[]): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options))
    throw new LimiterError('INVALID_OPTIONS', `${where}: options are ${shown(options)}, expected an object with ${known.join(', ')}`)
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
