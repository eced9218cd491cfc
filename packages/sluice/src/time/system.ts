import { MICROS_PER_MS, type Micros } from './micros.ts'
import type { Cancel, Random, Time } from './time.ts'

/** By how many microseconds wall time may be ahead of this clock before the clock is moved forward to wall time. */
const TOLERANCE: Micros = 1_000
const ANCHOR_EVERY_MS = 250

// `performance` is kept in a variable. In Node.js the global is a getter, and calling the getter takes as long as reading the clock.
const { performance: stopwatch } = globalThis
const monotonic = (): number => stopwatch.now()

/**
 * The real clock and the runtime's timers. No other code reads these. `now` follows the process's monotonic clock. If wall time is ahead of
 * it by more than a millisecond (after a sleep of the machine, or a step of the wall clock), `now` is moved forward to wall time. It is
 * never moved back.
 */
export function createSystemTime(): Time {
  let anchor = Date.now() * MICROS_PER_MS - monotonic() * MICROS_PER_MS
  let nextAnchor = 0
  const now = (): Micros => {
    let elapsed = monotonic()
    if (elapsed >= nextAnchor) {
      nextAnchor = elapsed + ANCHOR_EVERY_MS
      const wall = Date.now()
      // Monotonic time is read again, after wall time. Otherwise, if the process were stopped between the two readings, `ahead` would
      // include the time of the stop, and the clock would be too far ahead from then on.
      elapsed = monotonic()
      const ahead = wall * MICROS_PER_MS - (anchor + elapsed * MICROS_PER_MS)
      if (ahead > TOLERANCE) anchor += ahead
    }
    return Math.floor(anchor + elapsed * MICROS_PER_MS)
  }
  return { now, monotonic, wall: () => Date.now(), after }
}

/** The process's clock. All limiters that were created without a clock share it. */
export const systemTime: Time = createSystemTime()

export const systemRandom: Random = Math.random

/**
 * How many secret numbers are drawn at once. One draw takes about as long as a decision in memory, whether it draws one number or this
 * many.
 */
const DRAWN = 256
let drawn: Uint32Array | undefined
let unused = 0

/**
 * Numbers of 32 bits, as fractions in [0, 1), for seeds of hash tables and for ids. Nobody outside can guess them if the runtime has secure
 * randomness.
 */
export const systemSecret: Random = () => {
  const source = (globalThis as { crypto?: { getRandomValues(into: Uint32Array): Uint32Array } }).crypto
  if (source === undefined) return Math.random()
  if (unused === 0) {
    drawn = source.getRandomValues(drawn ?? new Uint32Array(DRAWN))
    unused = DRAWN
  }
  unused -= 1
  return ((drawn as Uint32Array)[unused] as number) / 2 ** 32
}

const soon: (fn: () => void) => void = typeof setImmediate === 'function' ? (fn) => void setImmediate(fn) : (fn) => void setTimeout(fn, 0)

/** The longest wait of a runtime's timer. A timer with a longer wait would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1

function after(ms: number, fn: () => void): Cancel {
  let live = true
  // A timer fires before the event loop reads its sockets. `soon` lets the loop read first, because input may have arrived while it was
  // busy.
  const fire = (): void => soon(() => (live ? fn() : undefined))
  const wait = (left: number): ReturnType<typeof setTimeout> =>
    left > MAX_TIMER_MS ? setTimeout(() => (timer = wait(left - MAX_TIMER_MS)), MAX_TIMER_MS) : setTimeout(fire, left)
  let timer = wait(ms)
  return () => {
    live = false
    clearTimeout(timer)
  }
}
