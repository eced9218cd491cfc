import type { Micros } from '../../time/micros.ts'
import type { MonotonicInstant } from '../../time/time.ts'

/** Whether a region is cut off: some peer was not read for the cutoff. */
export interface Cutoff {
  /** Since when it is, by its store's clock; undefined: it is not. */
  since(): Micros | undefined
  /** What `since` returned last. */
  readonly latest: Micros | undefined
  /** While it is cut off, a state was written at this time. */
  written(at: Micros): void
  /** @param oldest when what some peer had spent was last known, of the peer of which that is longest ago */
  fresh(oldest: MonotonicInstant): void
}

/**
 * @param cutoffMs undefined: never cut off
 * @param now of the store
 * @param monotonic undefined while nobody reads the peers: a region with a cutoff is cut off then
 */
export function createCutoff(cutoffMs: number | undefined, now: () => Micros, monotonic: () => MonotonicInstant | undefined): Cutoff {
  let freshUntil = -Infinity
  let latest: Micros | undefined
  let writtenAt = 0
  return {
    since() {
      if (cutoffMs === undefined || (monotonic() ?? Infinity) <= freshUntil) latest = undefined
      // The clock of the store may have stepped back: what an earlier cut wrote was before this one.
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
