import { MICROS_PER_MS, type Micros } from './micros.ts'
import type { Cancel, Random, Time } from './time.ts'

/** How far wall time may be ahead of this clock, before the clock is moved forward to it. */
const TOLERANCE: Micros = 1_000
const ANCHOR_EVERY_MS = 250

// Kept in a variable: in Node the global is a getter, which costs as much as reading the clock.
const { performance: stopwatch } = globalThis
const monotonic = (): number => stopwatch.now()

/**
 * The real clock and the runtime's timers; no other code reads them. `now` follows the process's monotonic clock. If wall time is ahead by
 * more than a millisecond (after a sleep of the machine, or a step of the wall clock), `now` is moved forward to it, and never back.
 */
export function createSystemTime(): Time {
  let anchor = Date.now() * MICROS_PER_MS - monotonic() * MICROS_PER_MS
  let nextAnchor = 0
  const now = (): Micros => {
    let elapsed = monotonic()
    if (elapsed >= nextAnchor) {
      nextAnchor = elapsed + ANCHOR_EVERY_MS
      const wall = Date.now()
      // Read after wall time: were it read before, a process that is stopped between the two would be ahead from then on by as long as that.
      elapsed = monotonic()
      const ahead = wall * MICROS_PER_MS - (anchor + elapsed * MICROS_PER_MS)
      if (ahead > TOLERANCE) anchor += ahead
    }
    return Math.floor(anchor + elapsed * MICROS_PER_MS)
  }
  return { now, monotonic, wall: () => Date.now(), after }
}

/** The process's clock. All limiters that were given no clock share it. */
export const systemTime: Time = createSystemTime()

export const systemRandom: Random = Math.random

/** How many secret numbers are drawn at once: a draw takes as long as a decision in memory, however many it draws. */
const DRAWN = 256
let drawn: Uint32Array | undefined
let unused = 0

/** Numbers in [0, 1), of 32 bits, for seeding hash tables and for ids. Nobody outside can guess them if the runtime has secure randomness. */
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

/** The longest wait of a runtime's timer; a longer one would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1

function after(ms: number, fn: () => void): Cancel {
  let live = true
  // A timer fires before the event loop polls its sockets. `soon` lets it poll first, for input that arrived while the loop was busy.
  const fire = (): void => soon(() => (live ? fn() : undefined))
  const wait = (left: number): ReturnType<typeof setTimeout> =>
    left > MAX_TIMER_MS ? setTimeout(() => (timer = wait(left - MAX_TIMER_MS)), MAX_TIMER_MS) : setTimeout(fire, left)
  let timer = wait(ms)
  return () => {
    live = false
    clearTimeout(timer)
  }
}
