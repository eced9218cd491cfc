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
  let monotonic = 0
  /** Wall time at monotonic time 0, as moved by all shifts so far. Adding up rounded steps would make wall time drift. */
  let base = start
  const micros = (): Micros => Math.round(monotonic * MICROS_PER_MS)
  const now = (): Micros => base + micros()
  let timers: { due: number; fn: () => void }[] = []
  const after = (ms: number, fn: () => void): Cancel => {
    requireForm('manualClock.after', 'fn', fn, FUNCTION)
    const timer = { due: monotonic + ms, fn }
    timers.push(timer)
    return () => {
      timers = timers.filter((other) => other !== timer)
    }
  }
  /** Not backwards: a timer may have advanced the clock further. */
  const moveTo = (target: number): void => void (monotonic = Math.max(monotonic, target))
  const advance = (ms: number): void => {
    requireForm('manualClock.advance', 'ms', ms, AHEAD)
    const target = monotonic + ms
    for (;;) {
      const next = timers.filter((timer) => timer.due <= target).sort((a, b) => a.due - b.due)[0]
      if (next === undefined) break
      timers = timers.filter((timer) => timer !== next)
      moveTo(next.due)
      next.fn()
    }
    moveTo(target)
  }
  return {
    now,
    monotonic: () => monotonic,
    after,
    advance,
    shift: (by) => {
      requireForm('manualClock.shift', 'micros', by, INSTANT)
      const wall = now() + by
      if (by > 0) monotonic += by / MICROS_PER_MS
      base = wall - micros()
    },
  }
}
