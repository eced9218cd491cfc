import type { Micros } from '../time/micros.ts'
import type { MonotonicInstant, Time } from '../time/time.ts'

/** Starts the callers of a key in the order in which the store charged them, even if a reply was late. */
export interface Order {
  /** Keys with waiting callers, and a few whose callers have started. */
  readonly size: number
  /**
   * Returns when a caller starts: at `start`, or with the caller before it, if that is later.
   * @param instant when the caller may start, in store time
   * @param start the same by this process's clock, late by at most `lateMs`
   */
  startOf(key: string, instant: Micros, start: MonotonicInstant, lateMs: number): MonotonicInstant
}

interface Last {
  instant: Micros
  start: MonotonicInstant
  /** Milliseconds by which `start` may be late. */
  lateMs: number
}

/** Waiting callers of a key still start in their order if the store's clock jumps by at most this. */
const STEP_MS = 50
/** Below this number of keys, those of started callers are kept. */
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
