import type { Cancel, MonotonicInstant, Time } from './time.ts'

/** Many deadlines on one timer: a call that is answered in time needs no timer of its own. */
export interface Deadlines {
  /** Runs `fn` at the deadline unless cancelled before. */
  add(deadline: MonotonicInstant, fn: () => void): Cancel
}

interface Entry {
  readonly deadline: MonotonicInstant
  fn: (() => void) | undefined
}

/** A timer due within this many milliseconds is not cleared when nobody needs it any more, although the process waits for it. */
const SOON_MS = 100

/**
 * One queue of deadlines, earliest first. Deadlines mostly arrive in order, so an insertion is a push. Answered ones are dropped from the
 * front as they pass. Sequential calls reuse the timer of an earlier call instead of setting and clearing one each.
 */
export function createDeadlines(time: Time): Deadlines {
  let queue: Entry[] = []
  let head = 0
  let live = 0
  let stop: Cancel | undefined
  let armedFor = Infinity

  const arm = (): void => {
    while (head < queue.length && queue[head]?.fn === undefined) head += 1
    if (head > 1_024 && head * 2 > queue.length) {
      queue = queue.slice(head)
      head = 0
    }
    const next = queue[head]
    if (next === undefined) return
    if (stop !== undefined && armedFor <= next.deadline) return
    stop?.()
    armedFor = next.deadline
    stop = time.after(Math.max(0, Math.ceil(next.deadline - time.monotonic())), fire)
  }
  const rest = (): void => {
    queue.length = 0
    head = 0
    if (armedFor - time.monotonic() <= SOON_MS) return
    stop?.()
    stop = undefined
    armedFor = Infinity
  }
  const fire = (): void => {
    stop = undefined
    armedFor = Infinity
    const now = time.monotonic()
    for (let entry = queue[head]; entry !== undefined && entry.deadline <= now; entry = queue[head]) {
      head += 1
      const { fn } = entry
      if (fn !== undefined) live -= 1
      entry.fn = undefined
      fn?.()
    }
    arm()
  }
  return {
    add(deadline, fn) {
      const entry: Entry = { deadline, fn }
      let at = queue.length
      while (at > head && (queue[at - 1] as Entry).deadline > deadline) at -= 1
      if (at === queue.length) queue.push(entry)
      else queue.splice(at, 0, entry)
      if (stop === undefined || deadline < armedFor) arm()
      live += 1
      return () => {
        if (entry.fn === undefined) return
        entry.fn = undefined
        live -= 1
        if (live === 0) rest()
      }
    },
  }
}
