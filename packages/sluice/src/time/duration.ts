import { LimiterError } from '../errors/limiter-error.ts'
import { shown } from '../errors/options.ts'
import { MAX_MICROS, type Micros } from './micros.ts'

/** Microseconds. Other names in FORM, such as `second`, mean the unit of their first letter. */
const UNITS: Readonly<Record<string, Micros>> = {
  us: 1,
  ms: 1_000,
  s: 1_000_000,
  m: 60_000_000,
  h: 3_600_000_000,
  d: 86_400_000_000,
  w: 604_800_000_000,
}
const FORM = /^\s*(?:(\d{1,16})(?:\.(\d{1,6}))?)?\s*(us|ms|s|sec|second|m|min|minute|h|hour|d|day|w|week)s?\s*$/

export const DURATION_FORM = 'a number and a unit (us, ms, s, min or m, h, d, w), such as 30s or 1.5h, or milliseconds as a number'

/**
 * `'30s'`, `'1.5h'`, a unit alone (`'min'` is one minute), or milliseconds as a number.
 * @throws LimiterError INVALID_DURATION if it is not positive, not whole in microseconds, or above a hundred years
 */
export function parseDuration(value: string | number, place: string = ''): Micros {
  const micros = typeof value === 'number' ? value * 1_000 : typeof value === 'string' ? read(value) : undefined
  if (micros === undefined || !Number.isSafeInteger(micros) || micros <= 0 || micros > MAX_MICROS) {
    throw new LimiterError(
      'INVALID_DURATION',
      `${place}${shown(value)} is not a duration: expected ${DURATION_FORM}, at most a hundred years`,
    )
  }
  return micros
}

function read(text: string): Micros | undefined {
  const match = FORM.exec(text)
  if (match === null) return undefined
  const [, whole = '1', decimals = '', name = ''] = match
  const unit = (UNITS[name] ?? UNITS[name.charAt(0)]) as Micros
  // Exact in a double: a unit has at most 27 significant bits, and six decimals have 20.
  const part = (Number(decimals.padEnd(6, '0')) * unit) / 1_000_000
  return Number.isInteger(part) ? Number(whole) * unit + part : undefined
}

/** A lower number without a unit is most often meant as seconds. */
const MIN_BARE_MS = 1_000

/** An error text for a positive number below `MIN_BARE_MS`; undefined for any other value. */
export function bareProblem(value: unknown): string | undefined {
  if (typeof value !== 'number' || !(value > 0 && value < MIN_BARE_MS)) return undefined
  return `${value} has no unit: write '${value}s' for seconds or '${value}ms' for milliseconds`
}

/**
 * As `parseDuration`, but refuses numbers below `MIN_BARE_MS`.
 * @throws LimiterError INVALID_DURATION
 */
export function parsePeriod(value: string | number, place: string = ''): Micros {
  const problem = bareProblem(value)
  if (problem !== undefined) throw new LimiterError('INVALID_DURATION', place + problem)
  return parseDuration(value, place)
}
