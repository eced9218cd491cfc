import type { Micros } from './micros.ts'

/** Milliseconds on a clock that never steps. Only differences have a meaning. */
export type MonotonicInstant = number

/** The beginning and the end of something that is measured. Both are readings of `Time.monotonic`. */
export interface Stopwatch {
  readonly started: MonotonicInstant
  /** Undefined until the end. */
  ended: MonotonicInstant | undefined
}

/** Cancels the timer that `after` started. Has no effect if the timer has run or was cancelled before. */
export type Cancel = () => void

/**
 * The interface to real time. Only its implementations may read a clock or start a timer. All other code gets an implementation passed in.
 */
export interface Time {
  /** Microseconds since 1970; never goes backwards while the process lives. */
  now(): Micros
  /** Milliseconds on a clock that never steps; only differences have a meaning. */
  monotonic(): MonotonicInstant
  /**
   * The machine's wall time in milliseconds since 1970. It may step forward or back. While the machine sleeps, wall time advances, but
   * `monotonic` does not.
   */
  wall?(): number
  /**
   * Runs `fn` once, after at least `ms` milliseconds. Input that has arrived at the process by then is handled first. So if the process was
   * stopped for a while, a reply that waits in a socket counts as in time. Keeps the process alive until `fn` has run or is cancelled.
   */
  after(ms: number, fn: () => void): Cancel
}

/** The interface to randomness: returns a number in [0, 1). Secrets and ids need an unpredictable source, such as `systemSecret`. */
export type Random = () => number
