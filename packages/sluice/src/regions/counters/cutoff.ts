import type { Micros } from '../../time/micros.ts'
import type { MonotonicInstant } from '../../time/time.ts'

/** Says whether a region is cut off, that is, whether it has not read some peer for `cutoffMs`. */
export interface Cutoff {
  /** The store time since which the region has been cut off, in microseconds; undefined if it is not. */
  since(): Micros | undefined
  /** What the last call of `since` returned. */
  readonly latest: Micros | undefined
  /** Notes that a state was written at this store time while the region was cut off. */
  written(at: Micros): void
  /**
   * Notes up to which instant this region knows what all peers spent.
   * @param oldest for each peer there is an instant at which all that it had spent was known; this is the earliest of these instants
   */
  fresh(oldest: MonotonicInstant): void
}

/**
 * @param cutoffMs undefined: the region is never cut off
 * @param now the store's time
 * @param monotonic returns undefined while nobody reads the peers: a region with a cutoff is then cut off
 */
export function createCutoff(cutoffMs: number | undefined, now: () => Micros, monotonic: () => MonotonicInstant | undefined): Cutoff {
  let freshUntil = -Infinity
  let latest: Micros | undefined
  let writtenAt = 0
  return {
    since() {
      if (cutoffMs === undefined || (monotonic() ?? Infinity) <= freshUntil) latest = undefined
      // The clock of the store may have stepped back. So the new cut (a time of being cut off) begins later than all states that were
      // written in an earlier cut.
      else latest ??= Math.max(now(), writtenAt + 1)
      return latest
    },
    get latest() {
      return latest
    },
    written(at) {
      writtenAt = Math.max(writtenAt, at)
    },
    fresh(oldest) {
      if (cutoffMs !== undefined) freshUntil = oldest + cutoffMs
    },
  }
}
