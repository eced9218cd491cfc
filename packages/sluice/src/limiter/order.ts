import type { Micros } from '../time/micros.ts'
import type { MonotonicInstant, Time } from '../time/time.ts'

/** Starts the callers of each key in the order in which the store charged them, even if the reply to one of them was late. */
export interface Order {
  /** How many keys are kept: those with callers that wait, and a few whose callers have started. */
  readonly size: number
  /**
   * Returns when a caller starts: at `start`, or together with the caller before it if that caller starts later.
   * @param instant when the caller may start, in store time
   * @param start the same instant by this process's clock; late by at most the duration of the store call
   * @param lateMs the duration of the store call, in milliseconds
   */
  startOf(key: string, instant: Micros, start: MonotonicInstant, lateMs: number): MonotonicInstant
}

/** The last caller of a key. */
interface Last {
  instant: Micros
  start: MonotonicInstant
  /**
   * Milliseconds by which this caller's start may be late. The next caller waits for it at most that long, plus `STEP_MS` in case the
   * store's clock was set.
   */
  lateMs: number
}

/**
 * The largest step (sudden change) of the store's clock, in milliseconds, that keeps the order. After a larger step callers do not wait for
 * those before them.
 */
const STEP_MS = 50
/** Keys whose callers have started are removed when there are this many keys, and at least twice as many as the last removal left. */
const MIN_KEYS = 64

export function createOrder(clock: Time): Order {
  const lasts = new Map<string, Last>()
  let most = MIN_KEYS

  const forget = (now: MonotonicInstant): void => {
    for (const [key, { start }] of lasts) if (start <= now) lasts.delete(key)
    most = Math.max(MIN_KEYS, 2 * lasts.size)
  }
  return {
    get size() {
      return lasts.size
    },
    startOf(key, instant, start, lateMs) {
      const last = lasts.get(key)
      const behind = last === undefined || instant < last.instant ? 0 : last.start - start
      const isMoved = behind > 0 && behind <= (last as Last).lateMs + STEP_MS
      const own = isMoved ? (last as Last).start : start
      if (last !== undefined) Object.assign(last, { instant, start: own, lateMs: isMoved ? Math.max(lateMs, behind) : lateMs })
      else {
        const now = clock.monotonic()
        if (own <= now) return own
        if (lasts.size >= most) forget(now)
        lasts.set(key, { instant, start: own, lateMs })
      }
      return own
    },
  }
}
