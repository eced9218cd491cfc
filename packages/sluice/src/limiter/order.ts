import type { Micros } from '../time/micros.ts'
import type { MonotonicInstant, Time } from '../time/time.ts'

/** Keeps the callers of each key in the order of the store, although a reply may be late. */
export interface Order {
  /** Keys that are kept: those with callers that wait, and few more. */
  readonly size: number
  /**
   * When a caller starts: at `start`, or with the one before it if that one is late.
   * @param instant when it may start, in store time
   * @param start the same as this process knows it: late by the length of the call at most
   * @param lateMs the length of the call
   */
  startOf(key: string, instant: Micros, start: MonotonicInstant, lateMs: number): MonotonicInstant
}

/** The last caller of a key. */
interface Last {
  instant: Micros
  start: MonotonicInstant
  /** By how much its start may be late. A caller waits for it no longer than that, and a small step of the store's clock. */
  lateMs: number
}

/** Clocks are set forward in steps of some milliseconds. A larger step does not make callers wait for those before it. */
const STEP_MS = 50
/** Keys are searched for callers that have started when there are so many, and twice as many as were left. */
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
