/** Whole microseconds: an instant since 1970, or a length of time. Exact in a double until the year 2255. */
export type Micros = number

export const MICROS_PER_MS = 1_000
const MICROS_PER_SECOND = 1_000_000

/** A hundred years. A limit is refused if a key could need longer to become fresh. */
export const MAX_MICROS: Micros = 3_155_760_000_000_000

/** 2100-01-01. For every call before this instant, under every accepted limit, whole microseconds are exact. */
export const EXACT_UNTIL: Micros = 4_102_444_800_000_000

/** Instants at most this long after a call before `EXACT_UNTIL` are exact: about 155 years. */
export const LAST_INSTANT_AFTER: Micros = Number.MAX_SAFE_INTEGER - EXACT_UNTIL

/** Milliseconds, rounded up so that waiting them is enough. */
export function toMillis(micros: Micros): number {
  return Math.ceil(micros / MICROS_PER_MS)
}

/** Seconds, rounded up so that waiting them is enough: delay-seconds are whole (RFC 9110, 10.2.3). */
export function toSeconds(micros: Micros): number {
  return Math.ceil(micros / MICROS_PER_SECOND)
}
