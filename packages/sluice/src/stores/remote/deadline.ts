import type { MonotonicInstant } from '../../time/time.ts'
import type { CallOptions } from '../store.ts'

/** The deadlines of calls. */
export interface Deadlines {
  of(options: CallOptions | undefined, now: MonotonicInstant): MonotonicInstant
  /** The server has answered or failed: built-in deadlines are extended no more. */
  warm(): void
}

/** Milliseconds that a call may take if nobody says otherwise. */
export const DEFAULT_MS = 50
/** While the first connection is made, a built-in deadline is this long after the first call. */
const STRETCHED_MS = 1_000

export function createDeadlines(ownMs: number | undefined): Deadlines {
  let isWarm = false
  let until: MonotonicInstant | undefined
  return {
    of(options, now) {
      const given = options?.deadline
      const isDefault = given === undefined || options?.stretch === true
      if (ownMs !== undefined) return isDefault ? now + ownMs : Math.min(given, now + ownMs)
      if (!isDefault) return given
      const usual = given ?? now + DEFAULT_MS
      if (isWarm) return usual
      until ??= now + STRETCHED_MS
      return Math.max(usual, until)
    },
    warm() {
      isWarm = true
    },
  }
}
