import type { Cancel, MonotonicInstant, Time } from './time.ts'

/** Many deadlines on one timer: a call that is answered in time needs no timer of its own. */
export interface Deadlines {
  /** Runs `fn` at the deadline unless cancelled before. */
  add(deadline: MonotonicInstant, fn: () => void): Cancel
}

interface Entry {
  readonly deadline: MonotonicInstant
  /** Undefined once it has run or is cancelled. */
  fn: (() => void) | undefined
  before: Entry
  after: Entry
}

/** A timer due within this many milliseconds is not cleared when nobody needs it any more, although the process waits for it. */
const SOON_MS = 100

/**
 * A ring of deadlines; the timer is set for the earliest. Sequential calls reuse the timer of an earlier call instead of setting and
 * clearing one each. Not a Set: its discarded tables keep what was in them alive, and with many calls at once that costs more than the calls.
 */
export function createDeadlines(time: Time): Deadlines {
  const end = { deadline: Infinity } as Entry
  end.before = end
  end.after = end
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
  const remove = (entry: Entry): void => {
    entry.fn = undefined
    entry.before.after = entry.after
    entry.after.before = entry.before
    // An old entry must not keep younger ones alive.
    entry.before = end
    entry.after = end
  }
  const fire = (): void => {
    stop = undefined
    armedFor = Infinity
    const now = time.monotonic()
    const due: Entry[] = []
    let next = Infinity
    for (let entry = end.after; entry !== end; entry = entry.after) {
      if (entry.deadline <= now) due.push(entry)
      else next = Math.min(next, entry.deadline)
    }
    for (const entry of due) {
      const { fn } = entry
      if (fn !== undefined) remove(entry)
      fn?.()
    }
    arm(next)
  }
  return {
    add(deadline, fn) {
      const entry: Entry = { deadline, fn, before: end.before, after: end }
      end.before.after = entry
      end.before = entry
      arm(deadline)
      return () => {
        if (entry.fn === undefined) return
        remove(entry)
        if (end.after === end && armedFor - time.monotonic() > SOON_MS) disarm()
      }
    },
  }
}
