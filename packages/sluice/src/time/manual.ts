import { type Form, FUNCTION, requireForm } from '../errors/options.ts'
import { MICROS_PER_MS, type Micros } from './micros.ts'
import type { Cancel, Time } from './time.ts'

/** A clock that moves only on command, for tests without sleeping. */
export interface ManualClock extends Time {
  /** Moves the clock by milliseconds, and runs due timers in order. */
  advance(ms: number): void
  /** Moves wall time, backwards if negative. Monotonic time moves with it, but only forward. Runs no timers. */
  shift(micros: Micros): void
}

const INSTANT: Form = [Number.isSafeInteger, 'whole microseconds']
const AHEAD: Form = [(value) => typeof value === 'number' && value >= 0 && value < Infinity, 'a number of milliseconds of at least 0']

/**
 * @param start microseconds since 1970
 * @throws LimiterError INVALID_OPTIONS
 */
export function manualClock(start: Micros = 1_700_000_000_000_000): ManualClock {
  requireForm('manualClock', 'start', start, INSTANT)
  let wall = start
  let monotonic = 0
  let timers: { due: number; fn: () => void }[] = []
  const after = (ms: number, fn: () => void): Cancel => {
    requireForm('manualClock.after', 'fn', fn, FUNCTION)
    const timer = { due: monotonic + ms, fn }
    timers.push(timer)
    return () => {
      timers = timers.filter((other) => other !== timer)
    }
  }
  const advance = (ms: number): void => {
    requireForm('manualClock.advance', 'ms', ms, AHEAD)
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
      requireForm('manualClock.shift', 'micros', micros, INSTANT)
      wall += micros
      if (micros > 0) monotonic += micros / MICROS_PER_MS
    },
  }
}
