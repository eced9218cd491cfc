import type { Micros } from '../../time/micros.ts'

/** Ids by the time at which they may be looked at again, nearest first: a binary heap. One id may be in it more than once. */
export interface ExpiryQueue {
  push(at: Micros, id: string): void
  /** Takes out the id with the nearest time, if that has come. */
  take(now: Micros): string | undefined
  readonly size: number
  clear(): void
}

export function createExpiryQueue(): ExpiryQueue {
  const heap: { readonly at: Micros; readonly id: string }[] = []
  const rise = (from: number): void => {
    let at = from
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (nearer(parent, at)) return
      swap(parent, at)
      at = parent
    }
  }
  const sink = (): void => {
    let at = 0
    for (;;) {
      let least = at
      for (const child of [2 * at + 1, 2 * at + 2]) if (child < heap.length && !nearer(least, child)) least = child
      if (least === at) return
      swap(least, at)
      at = least
    }
  }
  const nearer = (a: number, b: number): boolean => (heap[a] as { at: Micros }).at <= (heap[b] as { at: Micros }).at
  const swap = (a: number, b: number): void => {
    const moved = heap[a] as (typeof heap)[number]
    heap[a] = heap[b] as (typeof heap)[number]
    heap[b] = moved
  }
  return {
    get size() {
      return heap.length
    },
    push(at, id) {
      heap.push({ at, id })
      rise(heap.length - 1)
    },
    take(now) {
      const [first] = heap
      if (first === undefined || first.at > now) return undefined
      const last = heap.pop() as (typeof heap)[number]
      if (heap.length > 0) {
        heap[0] = last
        sink()
      }
      return first.id
    },
    clear() {
      heap.length = 0
    },
  }
}
