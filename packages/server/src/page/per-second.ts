export const SECONDS = 300

export type PerSecond = ReturnType<typeof perSecond>

/** Seconds by which the clock may go back before the counts begin anew. */
const MAX_BACK = 5

/**
 * Times are whole seconds since 1970. An event up to 5 seconds before the latest second counts for the latest. If the clock is set back
 * further, the counts of before are dropped: their times have not come yet.
 */
export function perSecond() {
  const counts = new Uint32Array(SECONDS)
  let latest = 0
  const advance = (second: number): void => {
    if (second < latest - MAX_BACK) {
      counts.fill(0)
      latest = second
    }
    for (let at = Math.max(latest + 1, second - SECONDS + 1); at <= second; at += 1) counts[at % SECONDS] = 0
    latest = Math.max(latest, second)
  }
  return {
    add(second: number) {
      advance(second)
      counts[latest % SECONDS] = (counts[latest % SECONDS] as number) + 1
    },
    /** Oldest first, without `second` itself, which is incomplete. */
    before(second: number): number[] {
      advance(second)
      return Array.from({ length: SECONDS - 1 }, (_, index) => counts[(second + 1 + index) % SECONDS] as number)
    },
  }
}
