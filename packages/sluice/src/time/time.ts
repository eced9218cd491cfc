import type { Micros } from './micros.ts'

/** Milliseconds on a clock that never steps; only differences mean something. */
export type MonotonicInstant = number

/** Stops what `after` started; calling it again, or too late, does nothing. */
export type Cancel = () => void

/** The port to real time. It is given at the composition root; nothing else may read a clock or start a timer. */
export interface Time {
  /** Microseconds since 1970; never goes backwards while the process lives. */
  now(): Micros
  monotonic(): MonotonicInstant
  /** Milliseconds since 1970 as the machine has them: they may step, and have moved on where `monotonic` stood still while the machine slept. */
  wall?(): number
  /**
   * Runs `fn` once, not before `ms` milliseconds have passed. What has already arrived at the process is handled first:
   * after a stall, an answer waiting in a socket counts as in time. Keeps the process alive until it has run or is cancelled.
   */
  after(ms: number, fn: () => void): Cancel
}

/** The port to randomness: a number in [0, 1), used for spreading load, never for secrets. */
export type Random = () => number
