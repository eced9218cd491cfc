import type { Micros } from './micros.ts'

/** Milliseconds on a clock that never steps. Only differences have a meaning. */
export type MonotonicInstant = number

export interface Stopwatch {
  readonly started: MonotonicInstant
  /** Undefined until the end. */
  ended: MonotonicInstant | undefined
}

/** No effect if the timer has run or was cancelled before. */
export type Cancel = () => void

/** Only implementations of this interface may read a clock or start a timer. */
export interface Time {
  /** Microseconds since 1970; never goes backwards while the process lives. */
  now(): Micros
  /** Milliseconds; only differences have a meaning. */
  monotonic(): MonotonicInstant
  /** Wall time in milliseconds since 1970; it may step. Unlike `monotonic`, it advances while the machine sleeps. */
  wall?(): number
  /**
   * Runs `fn` after at least `ms` milliseconds, and after input that has arrived by then: a reply that waits in a socket counts as in time.
   * Keeps the process alive until then.
   */
  after(ms: number, fn: () => void): Cancel
}

/** Returns a number in [0, 1). Secrets and ids need an unpredictable source, such as `systemSecret`. */
export type Random = () => number
