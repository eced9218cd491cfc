import { MICROS_PER_MS, type Micros } from './micros.ts'
import type { Cancel, Time } from './time.ts'

/** A clock that moves only on command, for tests without sleeping. */
export interface ManualClock extends Time {
  /** Moves forward by `ms` milliseconds and runs the timers that fall due, in order. */
  advance(ms: number): void
  /** Moves wall time by microseconds, backwards if negative. Monotonic time moves along forward only. Runs no timers. */
  shift(micros: Micros): void
}

/** @param start initial time in microseconds since 1970 */
export function manualClock(start: Micros = 1_700_000_000_000_000): ManualClock {
  let wall = start
  let monotonic = 0
  let timers: { due: number; fn: () => void }[] = []
  const after = (ms: number, fn: () => void): Cancel => {
    const timer = { due: monotonic + ms, fn }
    timers.push(timer)
    return () => {
      timers = timers.filter((other) => other !== timer)
    }
  }
  const advance = (ms: number): void => {
    const target = monotonic + ms
    for (;;) {
      const next = timers.filter((timer) => timer.due <= target).sort((a, b) => a.due - b.due)[0]
      if (next === undefined) break
      timers = timers.filter((timer) => timer !== next)
      step(Math.max(next.due, monotonic) - monotonic)
      next.fn()
    }
    step(target - monotonic)
  }
  const step = (ms: number): void => {
    monotonic += ms
    wall += Math.round(ms * MICROS_PER_MS)
  }
  return {
    now: () => wall,
    monotonic: () => monotonic,
    after,
    advance,
    shift: (micros) => {
      wall += micros
      if (micros > 0) monotonic += micros / MICROS_PER_MS
    },
  }
}
