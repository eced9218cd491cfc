import { MICROS_PER_MS } from '../../time/micros.ts'
import type { MonotonicInstant, Time } from '../../time/time.ts'

/**
 * Makes a function that returns true once after each suspension of the machine: wall clock and monotonic clock have drifted apart. A wall
 * clock that somebody sets looks the same.
 * @param toleranceMs milliseconds of drift that are no suspension
 */
export function watchSleep(clock: Time, toleranceMs: number): (now: MonotonicInstant) => boolean {
  const between = (now: MonotonicInstant): number => (clock.wall?.() ?? clock.now() / MICROS_PER_MS) - now
  let known = between(clock.monotonic())
  return (now) => {
    const apart = between(now)
    if (Math.abs(apart - known) <= toleranceMs) return false
    known = apart
    return true
  }
}

/** Detects that callers answered in microtasks call again at once, so that the event loop cannot turn and read a reply. */
export function watchLoop(clock: Time) {
  let awaited = 0
  let turnedAt: MonotonicInstant = 0
  let turn: Promise<void> | undefined
  /** All callers share one promise. */
  const turned = (): Promise<void> =>
    (turn ??= new Promise<void>((resolve) => void clock.after(1, resolve)).then(() => {
      turnedAt = clock.monotonic()
      turn = undefined
      if (awaited > 0) void turned()
    }))
  return {
    turned(): Promise<void> {
      return turned()
    },
    during<T>(reply: Promise<T>): Promise<T> {
      if (awaited === 0) turnedAt = clock.monotonic()
      awaited += 1
      void turned()
      return reply.finally(() => (awaited -= 1))
    },
    starved: (now: MonotonicInstant): boolean => awaited > 0 && now - turnedAt > 2,
  }
}

/** Refusals that are answered before further ones wait for the event loop. */
const REFUSALS = 1_000

/**
 * Callers that call again at once after a refusal would keep the event loop from reading the replies that end the refusals. Returns a
 * promise to wait for, or undefined.
 */
export function paceRefusals(clock: Time): () => Promise<void> | undefined {
  const loop = watchLoop(clock)
  let refusals = 0
  return () => {
    refusals += 1
    if (refusals === 1) void loop.turned().then(() => (refusals = 0))
    return refusals > REFUSALS ? loop.turned() : undefined
  }
}
