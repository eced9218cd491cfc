import type { Micros } from './micros.ts'

/** Milliseconds on a clock that never steps. Only differences have a meaning. */
export type MonotonicInstant = number

/** Times something. Both readings are of `Time.monotonic`. */
export interface Stopwatch {
  readonly started: MonotonicInstant
  /** Undefined until it is stopped. */
  ended: MonotonicInstant | undefined
}

/** Cancels what `after` started. Calling it again, or too late, has no effect. */
export type Cancel = () => void

/** The port to real time. Only an implementation of it may read a clock or start a timer; all other code gets one passed in. */
export interface Time {
  /** Microseconds since 1970; never goes backwards while the process lives. */
  now(): Micros
  /** Milliseconds on a clock that never steps; only differences have a meaning. */
  monotonic(): MonotonicInstant
  /**
   * The machine's wall time in milliseconds since 1970. It may step. While the machine sleeps, wall time advances and `monotonic` stops.
   */
  wall?(): number
  /**
   * Runs `fn` once, after at least `ms` milliseconds. Input that has already arrived at the process is handled before `fn` runs, so that
   * after a stall a reply in a socket counts as in time. Keeps the process alive until `fn` has run or is cancelled.
   */
  after(ms: number, fn: () => void): Cancel
}

/** The port to randomness: a number in [0, 1). For spreading load, never for secrets. */
export type Random = () => number
