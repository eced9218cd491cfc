import { MICROS_PER_MS, type Micros } from './micros.ts'
import type { Cancel, Random, Time } from './time.ts'

/** How far wall time may be ahead of this clock, before the clock is moved forward to it. */
const TOLERANCE: Micros = 1_000
const ANCHOR_EVERY_MS = 250

// Read once: the global is a getter in Node, which costs as much as the clock itself.
const { performance: stopwatch } = globalThis
const monotonic = (): number => stopwatch.now()

/**
 * The real clock and the runtime's timers; nothing else reads them. `now` follows the process's monotonic clock. It is re-anchored only
 * forward (after a sleep of the machine, or a step of the wall clock into the future).
 */
export function createSystemTime(): Time {
  let anchor = Date.now() * MICROS_PER_MS - monotonic() * MICROS_PER_MS
  let nextAnchor = 0
  const now = (): Micros => {
    const elapsed = monotonic()
    if (elapsed >= nextAnchor) {
      nextAnchor = elapsed + ANCHOR_EVERY_MS
      const ahead = Date.now() * MICROS_PER_MS - (anchor + elapsed * MICROS_PER_MS)
      if (ahead > TOLERANCE) anchor += ahead
    }
    return Math.floor(anchor + elapsed * MICROS_PER_MS)
  }
  return { now, monotonic, wall: () => Date.now(), after }
}

/** The process's clock: all limiters without an explicit clock share it. */
export const systemTime: Time = createSystemTime()

export const systemRandom: Random = Math.random

/** Numbers in [0, 1) that nobody outside can guess, if the runtime has a source of them. They seed hash tables. */
export const systemSecret: Random = () => {
  const source = (globalThis as { crypto?: { getRandomValues(into: Uint32Array): Uint32Array } }).crypto
  return source === undefined ? Math.random() : (source.getRandomValues(new Uint32Array(1))[0] as number) / 2 ** 32
}

const soon: (fn: () => void) => void = typeof setImmediate === 'function' ? (fn) => void setImmediate(fn) : (fn) => void setTimeout(fn, 0)

/** The longest wait of a runtime's timer; a longer one would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1

function after(ms: number, fn: () => void): Cancel {
  let live = true
  // The second step lets the poll phase deliver what arrived while the loop was busy.
  const fire = (): void => soon(() => (live ? fn() : undefined))
  const wait = (left: number): ReturnType<typeof setTimeout> =>
    left > MAX_TIMER_MS ? setTimeout(() => (timer = wait(left - MAX_TIMER_MS)), MAX_TIMER_MS) : setTimeout(fire, left)
  let timer = wait(ms)
  return () => {
    live = false
    clearTimeout(timer)
  }
}
