import type { Cancel, MonotonicInstant, Time } from './time.ts'

/** Many deadlines on one timer: a call that is answered in time needs no timer of its own. */
export interface Deadlines {
  /** Runs `fn` at the deadline unless cancelled before. */
  add(deadline: MonotonicInstant, fn: () => void): Cancel
}

interface Entry {
  readonly deadline: MonotonicInstant
  readonly fn: () => void
}

/** A timer due within this many milliseconds is not cleared when nobody needs it any more, although the process waits for it. */
const SOON_MS = 100

/** The timer is set for the earliest deadline. Sequential calls reuse the timer of an earlier call instead of setting and clearing one each. */
export function createDeadlines(time: Time): Deadlines {
  const live = new Set<Entry>()
  let stop: Cancel | undefined
  let armedFor = Infinity

  const disarm = (): void => {
    stop?.()
    stop = undefined
    armedFor = Infinity
  }
  const arm = (deadline: MonotonicInstant): void => {
    if (deadline >= armedFor) return
    disarm()
    armedFor = deadline
    stop = time.after(Math.max(0, Math.ceil(deadline - time.monotonic())), fire)
  }
  const fire = (): void => {
    stop = undefined
    armedFor = Infinity
    const now = time.monotonic()
    let next = Infinity
    for (const entry of live) {
      if (entry.deadline > now) next = Math.min(next, entry.deadline)
      else if (live.delete(entry)) entry.fn()
    }
    arm(next)
  }
  return {
    add(deadline, fn) {
      const entry: Entry = { deadline, fn }
      live.add(entry)
      arm(deadline)
      return () => {
        if (live.delete(entry) && live.size === 0 && armedFor - time.monotonic() > SOON_MS) disarm()
      }
    },
  }
}
