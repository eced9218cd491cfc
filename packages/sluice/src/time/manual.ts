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
  /** At monotonic time `at`, wall time was `wall`, and `rest` of a microsecond. */
  let [at, wall, rest] = [0, start, 0]
  const now = (): Micros => wall + Math.round((monotonic - at) * MICROS_PER_MS + rest)
  /** @param ms since `at`; the difference of large monotonic times would not be exact */
  const settle = (ms = monotonic - at): void => {
    const micros = ms * MICROS_PER_MS + rest
    const whole = Math.round(micros)
    ;[at, wall, rest] = [monotonic, wall + whole, micros - whole]
  }
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
    settle()
    const began = at
    const target = monotonic + ms
    for (;;) {
      const next = timers.filter((timer) => timer.due <= target).sort((a, b) => a.due - b.due)[0]
      if (next === undefined) break
      timers = timers.filter((timer) => timer !== next)
      moveTo(next.due)
      next.fn()
    }
    moveTo(target)
    // A timer that moved the clock has settled what came before.
    settle(at === began && monotonic === target ? ms : undefined)
  }
  return {
    now,
    monotonic: () => monotonic,
    after,
    advance,
    shift: (by) => {
      requireForm('manualClock.shift', 'micros', by, INSTANT)
      settle()
      wall += by
      if (by > 0) at = monotonic += by / MICROS_PER_MS
    },
  }
}
