import type { Micros } from './micros.ts'

/** Milliseconds on a clock that never steps. Only differences have a meaning. */
export type MonotonicInstant = number

/** Cancels what `after` started. Calling it again, or too late, has no effect. */
export type Cancel = () => void

/** The port to real time. The composition root passes it in; nothing else may read a clock or start a timer. */
export interface Time {
  /** Microseconds since 1970; never goes backwards while the process lives. */
  now(): Micros
  monotonic(): MonotonicInstant
  /**
   * The machine's wall time in milliseconds since 1970. It may step. It advances during a sleep of the machine, in which `monotonic`
   * stops.
   */
  wall?(): number
  /**
   * Runs `fn` once, not before `ms` milliseconds have passed. It handles what has already arrived at the process first: after a stall, a
   * reply waiting in a socket counts as in time. Keeps the process alive until `fn` has run or is cancelled.
   */
  after(ms: number, fn: () => void): Cancel
}

/** The port to randomness: a number in [0, 1). For spreading load, never for secrets. */
export type Random = () => number
