import { LimiterError } from '../errors/limiter-error.ts'
import { refuseUnknown } from '../errors/options.ts'
import { parsePeriod } from '../time/duration.ts'
import { LAST_INSTANT_AFTER, type Micros } from '../time/micros.ts'
import type { Envelope, MicroTokens } from './algorithm.ts'
import { reduced } from './bucket-plan.ts'
import { MICRO, readTokens } from './decimal.ts'

/** Options common to all window algorithms. */
export interface WindowOptions {
  /** The most tokens in one window; at most six decimals. Below 1, calls need a lower `cost` than the default of 1. */
  readonly limit: number | string
  /** Length: text such as `'1m'`, or milliseconds as a number from 1,000 on. */
  readonly window: string | number
}

/** In tokens. Penalties raise counts to twice the limit, which must stay a safe integer of micro-tokens. */
const MAX_LIMIT = Math.floor(Number.MAX_SAFE_INTEGER / 2 / MICRO)

/**
 * Refuses options that are not in `known`.
 * @throws LimiterError INVALID_OPTIONS, INVALID_LIMIT, INVALID_DURATION, or LIMIT_NOT_EXACT above 4503599627 tokens
 */
export function readWindow(
  where: string,
  options: WindowOptions,
  known: readonly string[] = ['limit', 'window'],
): { limit: MicroTokens; window: Micros } {
  refuseUnknown(where, options, known)
  const limit = readTokens('INVALID_LIMIT', options.limit, 'is not a limit', MAX_LIMIT, `${where}: `)
  if (limit > MAX_LIMIT * MICRO) {
    throw new LimiterError(
      'LIMIT_NOT_EXACT',
      `${where}: limit is ${options.limit}, the largest is ${MAX_LIMIT} (exact whole numbers end there)`,
    )
  }
  return { limit, window: parsePeriod(options.window, `${where}: window: `) }
}

/**
 * Refuses a window so long that a call before 2100 would need an instant beyond 2^53 microseconds.
 * @param after microseconds after a charge for which the window counts
 * @throws LimiterError LIMIT_NOT_EXACT
 */
export function refuseEndless(where: string, after: Micros, longest: string): void {
  if (after <= LAST_INSTANT_AFTER) return
  throw new LimiterError('LIMIT_NOT_EXACT', `${where} ${longest}: whole microseconds end in the year 2255, and calls until 2100 are exact`)
}

/** Windows follow each other without gaps, from 1970 plus `shift` on. */
export function alignedEnd(window: Micros, now: Micros, shift: Micros = 0): Micros {
  return (Math.floor((now - shift) / window) + 1) * window + shift
}

/** `burst` at once, and then `limit` in each window's length. */
export function envelopeOf(limit: MicroTokens, window: Micros, burst: MicroTokens): Envelope {
  const [n, m] = reduced(limit, window)
  return { n, m, burst }
}
