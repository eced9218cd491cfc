/** Whole microseconds: an instant since 1970, or a length of time. Exact in a double until the year 2255. */
export type Micros = number

export const MICROS_PER_MS = 1_000
const MICROS_PER_SECOND = 1_000_000

/** A hundred years: no limit may take longer than this to be as fresh as new. */
export const LONGEST: Micros = 3_155_760_000_000_000

/** Milliseconds that are certainly enough: rounded up. */
export function toMillis(micros: Micros): number {
  return Math.ceil(micros / MICROS_PER_MS)
}

/** Seconds that are certainly enough: rounded up, as delay-seconds (RFC 9110, 10.2.3) are whole. */
export function toSeconds(micros: Micros): number {
  return Math.ceil(micros / MICROS_PER_SECOND)
}
