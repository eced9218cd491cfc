import { MICROS_PER_MS } from '../../time/micros.ts'
import type { MonotonicInstant, Time } from '../../time/time.ts'

/** Tells whether the machine was asleep, when its monotonic clock may have stood still. */
export interface SleepWatch {
  /** Whether wall clock and monotonic clock have come apart since the last time this said so. A wall clock that is set looks the same. */
  slept(now: MonotonicInstant): boolean
}

/** @param toleranceMs clocks may be so far apart */
export function watchSleep(clock: Time, toleranceMs: number): SleepWatch {
  const between = (now: MonotonicInstant): number => (clock.wall?.() ?? clock.now() / MICROS_PER_MS) - now
  let known = between(clock.monotonic())
  return {
    slept(now) {
      const apart = between(now)
      if (Math.abs(apart - known) <= toleranceMs) return false
      known = apart
      return true
    },
  }
}
