import type { Micros } from '../../time/micros.ts'
import type { MonotonicInstant } from '../../time/time.ts'

/** Whether a region is cut off: it has not read some peer for `cutoffMs`. */
export interface Cutoff {
  /** Since which store time the region is cut off; undefined if it is not. */
  since(): Micros | undefined
  /** What the last call of `since` returned. */
  readonly latest: Micros | undefined
  /** Notes that a state was written while the region was cut off. */
  written(at: Micros): void
  /** @param oldest this region knows what all peers had spent up to this instant */
  fresh(oldest: MonotonicInstant): void
  /** The monotonic clock was replaced by one that is this many milliseconds ahead. */
  shift(ahead: number): void
}

/**
 * @param cutoffMs undefined: the region is never cut off
 * @param monotonic undefined while nobody reads the peers: a region with a cutoff is then cut off
 */
export function createCutoff(cutoffMs: number | undefined, now: () => Micros, monotonic: () => MonotonicInstant | undefined): Cutoff {
  let freshUntil = -Infinity
  let latest: Micros | undefined
  let writtenAt = 0
  return {
    since() {
      if (cutoffMs === undefined || (monotonic() ?? Infinity) <= freshUntil) latest = undefined
      // The store's clock may have stepped back. So a new cutoff begins later than all states written in an earlier one.
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
    shift(ahead) {
      freshUntil += ahead
    },
  }
}
