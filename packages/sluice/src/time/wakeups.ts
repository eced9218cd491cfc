import type { Cancel, MonotonicInstant, Time } from './time.ts'

/** Something that is due at an instant. It is its own place in the heap, so that a waiter costs no further object. */
export interface Wakeup {
  readonly at: MonotonicInstant
  /** Set by the heap: those that are due at one instant run in the order in which they were added. */
  nth: number
  /** Set by the heap: the place in it; -1 if it is not there. */
  index: number
  /** Runs at the instant, never before it. */
  run(): void
}

/** Many instants on one timer. */
export interface Wakeups {
  /** How many are not due yet. */
  readonly size: number
  add(entry: Wakeup): void
  /** Too late, it has no effect. */
  remove(entry: Wakeup): void
}

/** A binary heap of instants, the earliest on top; the timer is set for that one. */
export function createWakeups(time: Time): Wakeups {
  const heap: Wakeup[] = []
  let added = 0
  let stop: Cancel | undefined
  let armedFor = Infinity

  const isBefore = (one: Wakeup, other: Wakeup): boolean => one.at < other.at || (one.at === other.at && one.nth < other.nth)
  const put = (entry: Wakeup, index: number): void => {
    heap[index] = entry
    entry.index = index
  }
  const rise = (entry: Wakeup): void => {
    let { index } = entry
    while (index > 0) {
      const parent = heap[(index - 1) >> 1] as Wakeup
      if (!isBefore(entry, parent)) break
      put(parent, index)
      index = (index - 1) >> 1
    }
    put(entry, index)
  }
  const sink = (entry: Wakeup): void => {
    let { index } = entry
    for (;;) {
      const left = heap[2 * index + 1]
      const right = heap[2 * index + 2]
      const child = right !== undefined && isBefore(right, left as Wakeup) ? right : left
      if (child === undefined || !isBefore(child, entry)) break
      const below = child.index
      put(child, index)
      index = below
    }
    put(entry, index)
  }
  const remove = (entry: Wakeup): void => {
    const { index } = entry
    entry.index = -1
    const last = heap.pop() as Wakeup
    if (last === entry) return
    put(last, index)
    rise(last)
    sink(last)
  }
  const arm = (): void => {
    const at = heap[0]?.at ?? Infinity
    if (at === armedFor) return
    stop?.()
    armedFor = at
    stop = heap.length === 0 ? undefined : time.after(Math.max(0, Math.ceil(at - time.monotonic())), fire)
  }
  const fire = (): void => {
    stop = undefined
    armedFor = Infinity
    const now = time.monotonic()
    for (let first = heap[0]; first !== undefined && first.at <= now; first = heap[0]) {
      remove(first)
      first.run()
    }
    arm()
  }
  return {
    get size() {
      return heap.length
    },
    add(entry) {
      entry.nth = added
      added += 1
      entry.index = heap.length
      heap.push(entry)
      rise(entry)
      arm()
    },
    remove(entry) {
      if (entry.index === -1) return
      remove(entry)
      arm()
    },
  }
}
