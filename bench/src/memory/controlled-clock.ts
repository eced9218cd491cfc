import { type ManualClock, manualClock } from 'sluice/clock'

/** Midnight, so that windows of any length that divides a day begin here. In microseconds since 1970. */
const START = 1_700_006_400_000_000

/**
 * Runs `work` while all clocks of the process show the time of a clock that `work` moves; whole milliseconds in `Date.now`. Timers do not
 * follow it.
 */
export async function withControlledClock<Result>(work: (clock: ManualClock) => Promise<Result>): Promise<Result> {
  const clock = manualClock(START)
  const [wall, monotonic] = [Date.now, performance.now]
  Date.now = () => Math.floor(clock.now() / 1_000)
  performance.now = () => clock.monotonic()
  try {
    return await work(clock)
  } finally {
    Date.now = wall
    performance.now = monotonic
  }
}
