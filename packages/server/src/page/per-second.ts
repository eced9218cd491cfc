/** The seconds that the page shows. */
export const SECONDS = 300

export type PerSecond = ReturnType<typeof perSecond>

/**
 * Counts events per second, over the last five minutes. Times are whole seconds since 1970. An event whose time is before the latest one
 * counts for the latest second.
 */
export function perSecond() {
  const counts = new Uint32Array(SECONDS)
  let latest = 0
  const advance = (second: number): void => {
    for (let at = Math.max(latest + 1, second - SECONDS + 1); at <= second; at += 1) counts[at % SECONDS] = 0
    latest = Math.max(latest, second)
  }
  return {
    add(second: number) {
      advance(second)
      counts[latest % SECONDS] = (counts[latest % SECONDS] as number) + 1
    },
    /** The counts of the seconds before `second`, oldest first. The count of `second` itself is 0 or incomplete, so it is not included. */
    before(second: number): number[] {
      advance(second)
      return Array.from({ length: SECONDS - 1 }, (_, index) => counts[(second + 1 + index) % SECONDS] as number)
    },
  }
}
