/** Whole microseconds: an instant since 1970, or a length of time. Exact in a double until the year 2255. */
export type Micros = number

export const MICROS_PER_MS = 1_000
const MICROS_PER_SECOND = 1_000_000

/** A hundred years. A limit is refused if a used-up key may need longer until its limit is full again. */
export const MAX_MICROS: Micros = 3_155_760_000_000_000

/** The year 2100. For calls before it, under every accepted limit, times in whole microseconds are exact. */
export const EXACT_UNTIL: Micros = 4_102_444_800_000_000

/** For calls before `EXACT_UNTIL`, all instants up to this many microseconds later (about 155 years) are exact. */
export const LAST_INSTANT_AFTER: Micros = Number.MAX_SAFE_INTEGER - EXACT_UNTIL

/** Rounds up, so that a wait is never too short. */
export function toMillis(micros: Micros): number {
  return Math.ceil(micros / MICROS_PER_MS)
}

/** Rounds up. Retry-After has whole seconds (RFC 9110, 10.2.3). */
export function toSeconds(micros: Micros): number {
  return Math.ceil(micros / MICROS_PER_SECOND)
}
