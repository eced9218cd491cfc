import type { Micros } from '../../time/micros.ts'

/** A state in the table, and its place in the heap. */
export interface Entry {
  readonly id: string
  state: unknown
  expiresAt: Micros
  place: number
}

/** Entries by expiry, nearest first: a binary heap in which every entry knows its place, so that a changed expiry moves it at once. */
export interface ExpiryHeap {
  readonly first: Entry | undefined
  add(entry: Entry): void
  /** After `expiresAt` of an entry that is in the heap was changed. */
  moved(entry: Entry): void
  remove(entry: Entry): void
  clear(): void
}

export function createExpiryHeap(): ExpiryHeap {
  const heap: Entry[] = []
  const put = (entry: Entry, place: number): void => {
    heap[place] = entry
    entry.place = place
  }
  /** Moves an entry towards the front; true where it moved. */
  const rise = (entry: Entry): boolean => {
    let { place } = entry
    const from = place
    while (place > 0) {
      const parent = heap[(place - 1) >> 1] as Entry
      if (parent.expiresAt <= entry.expiresAt) break
      put(parent, place)
      place = (place - 1) >> 1
    }
    put(entry, place)
    return place < from
  }
  const sink = (entry: Entry): void => {
    let { place } = entry
    for (;;) {
      let child = 2 * place + 1
      if (child >= heap.length) break
      if (child + 1 < heap.length && (heap[child + 1] as Entry).expiresAt < (heap[child] as Entry).expiresAt) child += 1
      const nearer = heap[child] as Entry
      if (nearer.expiresAt >= entry.expiresAt) break
      put(nearer, place)
      place = child
    }
    put(entry, place)
  }
  const moved = (entry: Entry): void => {
    if (!rise(entry)) sink(entry)
  }
  return {
    get first() {
      return heap[0]
    },
    add(entry) {
      put(entry, heap.length)
      rise(entry)
    },
    moved,
    remove(entry) {
      const last = heap.pop() as Entry
      if (last === entry) return
      put(last, entry.place)
      moved(last)
    },
    clear() {
      heap.length = 0
    },
  }
}
