/** Whole microseconds: an instant since 1970, or a length of time. Exact in a double until the year 2255. */
export type Micros = number

export const MICROS_PER_MS = 1_000
const MICROS_PER_SECOND = 1_000_000

/** A hundred years: the longest time that a limit may let a key take to become fresh. */
export const MAX_MICROS: Micros = 3_155_760_000_000_000

/** 2100-01-01: whole microseconds are exact for every call before it, under every accepted limit. */
const EXACT_UNTIL: Micros = 4_102_444_800_000_000

/** The longest time after a call before that date at which an instant is still exact: some 155 years. */
export const LAST_INSTANT_AFTER: Micros = Number.MAX_SAFE_INTEGER - EXACT_UNTIL

/** Milliseconds, rounded up so that waiting them is enough. */
export function toMillis(micros: Micros): number {
  return Math.ceil(micros / MICROS_PER_MS)
}

/** Seconds, rounded up so that waiting them is enough: delay-seconds are whole (RFC 9110, 10.2.3). */
export function toSeconds(micros: Micros): number {
  return Math.ceil(micros / MICROS_PER_SECOND)
}
