/** Whole microseconds: an instant since 1970, or a length of time. Exact in a double until the year 2255. */
export type Micros = number

export const MICROS_PER_MS = 1_000
const MICROS_PER_SECOND = 1_000_000

/** A hundred years. A limit is refused if a used-up key may need longer than this until its limit is full again. */
export const MAX_MICROS: Micros = 3_155_760_000_000_000

/**
 * The beginning of the year 2100. For every call before this instant, under every accepted limit, times in whole microseconds are exact.
 */
export const EXACT_UNTIL: Micros = 4_102_444_800_000_000

/** If a call is before `EXACT_UNTIL`, all instants up to this many microseconds (about 155 years) after the call are exact. */
export const LAST_INSTANT_AFTER: Micros = Number.MAX_SAFE_INTEGER - EXACT_UNTIL

/** Converts to milliseconds. Rounds up, so that a wait is never too short. */
export function toMillis(micros: Micros): number {
  return Math.ceil(micros / MICROS_PER_MS)
}

/** Converts to seconds. Rounds up, so that a wait is never too short. The field Retry-After has whole seconds (RFC 9110, 10.2.3). */
export function toSeconds(micros: Micros): number {
  return Math.ceil(micros / MICROS_PER_SECOND)
}
