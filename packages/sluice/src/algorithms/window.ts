import { LimiterError } from '../errors/limiter-error.ts'
import { shown } from '../errors/options.ts'
import { parsePeriod } from '../time/duration.ts'
import { LAST_INSTANT_AFTER, type Micros } from '../time/micros.ts'
import type { MicroTokens } from './algorithm.ts'
import { MICRO, toMicroTokens } from './decimal.ts'

/** Options common to all window algorithms. */
export interface WindowOptions {
  /** The most tokens in one window; at most six decimals. */
  readonly limit: number | string
  /** Length: text such as `'1m'`, or milliseconds as a number from 1,000 on. */
  readonly window: string | number
}

/** The largest limit in tokens. Penalties raise counts to twice the limit, which must stay a safe integer of micro-tokens. */
const MAX_LIMIT = Math.floor(Number.MAX_SAFE_INTEGER / 2 / MICRO)

/**
 * Reads and validates limit and window.
 * @throws LimiterError INVALID_LIMIT, INVALID_DURATION, or LIMIT_NOT_EXACT above 4503599627 tokens
 */
export function readWindow(where: string, options: WindowOptions): { limit: MicroTokens; window: Micros } {
  const limit = toMicroTokens(options.limit)
  if (limit === undefined || limit === 0) {
    throw new LimiterError(
      'INVALID_LIMIT',
      `${where}: ${shown(options.limit)} is not a limit: expected tokens above 0 and at most ${MAX_LIMIT}, with at most six decimals`,
    )
  }
  if (limit > MAX_LIMIT * MICRO) {
    throw new LimiterError(
      'LIMIT_NOT_EXACT',
      `${where}: limit is ${options.limit}, the largest is ${MAX_LIMIT} (exact whole numbers end there)`,
    )
  }
  return { limit, window: parsePeriod(options.window, `${where}: window: `) }
}

/**
 * Refuses a window that is counted or reported so long after a charge that a call before 2100 would exceed whole microseconds.
 * @param after how long after a charge; `longest`: the longest accepted length, as text
 * @throws LimiterError LIMIT_NOT_EXACT
 */
export function refuseEndless(where: string, after: Micros, longest: string): void {
  if (after <= LAST_INSTANT_AFTER) return
  throw new LimiterError('LIMIT_NOT_EXACT', `${where} ${longest}: whole microseconds end in the year 2255, and calls until 2100 are exact`)
}

/** The end of the window that holds this instant. Windows follow each other from 1970 on, moved by `shift`. */
export function alignedEnd(window: Micros, now: Micros, shift: Micros = 0): Micros {
  return (Math.floor((now - shift) / window) + 1) * window + shift
}
