import type { Cancel, MonotonicInstant, Time } from './time.ts'

/** The heap keeps its own data in this object, so that a waiter needs no second one. */
export interface Wakeup {
  readonly at: MonotonicInstant
  /** Set by the heap: the order of adding. Entries with the same instant run in this order. */
  nth: number
  /** Set by the heap; -1 if the entry is not in it. */
  index: number
  /** Called at the instant or later, never before. */
  run(): void
}

/** Runs many entries with one timer. */
export interface Wakeups {
  /** How many entries have not run yet. */
  readonly size: number
  add(entry: Wakeup): void
  /** No effect if the entry is not in the heap. */
  remove(entry: Wakeup): void
}

export function createWakeups(time: Time): Wakeups {
  const heap: Wakeup[] = []
  let added = 0
  let stop: Cancel | undefined
  let armedFor = Infinity

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
      takeOut(heap, first)
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
      rise(heap, entry)
      arm()
    },
    remove(entry) {
      if (entry.index === -1) return
      takeOut(heap, entry)
      arm()
    },
  }
}

function isBefore(one: Wakeup, other: Wakeup): boolean {
  return one.at < other.at || (one.at === other.at && one.nth < other.nth)
}

function put(heap: Wakeup[], entry: Wakeup, index: number): void {
  heap[index] = entry
  entry.index = index
}

function rise(heap: Wakeup[], entry: Wakeup): void {
  let { index } = entry
  while (index > 0) {
    const parent = heap[(index - 1) >> 1] as Wakeup
    if (!isBefore(entry, parent)) break
    put(heap, parent, index)
    index = (index - 1) >> 1
  }
  put(heap, entry, index)
}

function sink(heap: Wakeup[], entry: Wakeup): void {
  let { index } = entry
  for (;;) {
    const left = heap[2 * index + 1]
    const right = heap[2 * index + 2]
    const child = right !== undefined && isBefore(right, left as Wakeup) ? right : left
    if (child === undefined || !isBefore(child, entry)) break
    const below = child.index
    put(heap, child, index)
    index = below
  }
  put(heap, entry, index)
}

function takeOut(heap: Wakeup[], entry: Wakeup): void {
  const { index } = entry
  entry.index = -1
  const last = heap.pop() as Wakeup
  if (last === entry) return
  put(heap, last, index)
  rise(heap, last)
  sink(heap, last)
}
