import { MICROS_PER_MS, type Micros } from './micros.ts'
import type { Cancel, Random, Time } from './time.ts'

/** Microseconds by which wall time may be ahead before this clock is moved forward to it. */
const TOLERANCE: Micros = 1_000
const ANCHOR_EVERY_MS = 250

// In Node.js the global is a getter, and calling it takes as long as reading the clock.
const { performance: stopwatch } = globalThis
const monotonic = (): number => stopwatch.now()

/**
 * `now` follows the monotonic clock. If wall time is more than a millisecond ahead (after a sleep of the machine, or a step), `now` moves
 * forward to wall time. It never moves back.
 */
export function createSystemTime(): Time {
  let anchor = Date.now() * MICROS_PER_MS - monotonic() * MICROS_PER_MS
  let nextAnchor = 0
  const now = (): Micros => {
    let elapsed = monotonic()
    if (elapsed >= nextAnchor) {
      nextAnchor = elapsed + ANCHOR_EVERY_MS
      const wall = Date.now()
      // `elapsed` is read again. Otherwise a pause of the process before `wall` was read would set the clock too far ahead from then on.
      elapsed = monotonic()
      const ahead = wall * MICROS_PER_MS - (anchor + elapsed * MICROS_PER_MS)
      if (ahead > TOLERANCE) anchor += ahead
    }
    return Math.floor(anchor + elapsed * MICROS_PER_MS)
  }
  return { now, monotonic, wall: () => Date.now(), after }
}

/** Shared by all limiters that were created without a clock. */
export const systemTime: Time = createSystemTime()

export const systemRandom: Random = Math.random

/** One draw takes about as long as a decision in memory, for one number or for this many. */
const DRAWN = 256
let drawn: Uint32Array | undefined
let unused = 0

/** Fractions in [0, 1) of 32 bits; unpredictable if the runtime has `crypto`. */
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

/** A runtime's timer with a longer wait would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1

function after(ms: number, fn: () => void): Cancel {
  let live = true
  // A timer fires before the event loop reads its sockets. `soon` lets the loop first read input that arrived while it was busy.
  const fire = (): void => soon(() => (live ? fn() : undefined))
  const wait = (left: number): ReturnType<typeof setTimeout> =>
    left > MAX_TIMER_MS ? setTimeout(() => (timer = wait(left - MAX_TIMER_MS)), MAX_TIMER_MS) : setTimeout(fire, left)
  let timer = wait(ms)
  return () => {
    live = false
    clearTimeout(timer)
  }
}
