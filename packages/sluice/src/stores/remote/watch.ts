import { MICROS_PER_MS } from '../../time/micros.ts'
import type { MonotonicInstant, Time } from '../../time/time.ts'

/**
 * Makes a function that returns whether the machine has slept, so that its monotonic clock may have stood still. It compares how far wall
 * clock and monotonic clock are apart with how far they were apart when it last returned true. A wall clock that somebody sets looks like a
 * sleep.
 * @param toleranceMs milliseconds by which the clocks may drift without a sleep
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

/**
 * Detects that callers who are answered in microtasks call again at once, so that the event loop cannot turn and read a reply. While a
 * reply is awaited, a timer of 1 ms shows whether the loop turns. If the loop turns, the reply is only slow, and no caller has to wait for
 * the loop.
 */
export function watchLoop(clock: Time) {
  let awaited = 0
  let turnedAt: MonotonicInstant = 0
  let turn: Promise<void> | undefined
  /** Resolves when the loop has turned. All callers share one promise. */
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
    /** Watches whether the loop turns, until the reply is read. */
    during<T>(reply: Promise<T>): Promise<T> {
      if (awaited === 0) turnedAt = clock.monotonic()
      awaited += 1
      void turned()
      return reply.finally(() => (awaited -= 1))
    },
    /** Whether a reply is awaited and the loop has not turned for 2 ms. */
    starved: (now: MonotonicInstant): boolean => awaited > 0 && now - turnedAt > 2,
  }
}

/** How many refusals are answered at once before the next ones wait until the loop has turned. */
const REFUSALS = 1_000

/**
 * Lets the event loop turn between many refusals. A refusal needs no reply of a server. So callers that call again at once would keep the
 * loop from reading the replies that end the refusals. Returns undefined if the refusal may be answered now, otherwise a promise to wait
 * for.
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
