import { COUNT, type Form, requireForm } from '../errors/options.ts'
import type { ChargeEvent, Observer } from './events.ts'

/** How often a key was charged. */
export interface KeyCount {
  /** Of the rule that counted the key. */
  readonly rule: string
  /** A pseudonym. */
  readonly key: string
  /** Never too low; too high by at most `error`. */
  readonly requests: number
  /** How much too high `requests` may be. */
  readonly error: number
  /** Since the key last entered the list of counted keys. */
  readonly refused: number
}

/** Counts the keys with the most requests, in bounded memory. */
export interface TopKeys extends Observer {
  /** Counts a charge. */
  onCharge(event: ChargeEvent): void
  /**
   * The most frequent keys first, at most `count` of them.
   * @throws LimiterError INVALID_OPTIONS for a count that is neither Infinity nor a whole number from 0
   */
  top(count: number): readonly KeyCount[]
  /** The most requests of a key that `top(Infinity)` does not return. */
  readonly floor: number
}

interface Cell {
  readonly name: string
  readonly rule: string
  readonly key: string
  requests: number
  readonly error: number
  refused: number
  at: number
}

const CAPACITY = 1_000
const TOP: Form = [(value) => value === 0 || value === Infinity || COUNT[0](value), 'a whole number from 0, or Infinity']

/**
 * Counts by space-saving (Metwally, Agrawal, El Abbadi, "Efficient computation of frequent and top-k elements in data streams", 2005). If
 * `capacity` keys are counted, a new key replaces the least frequent one, whose count becomes the new key's `error`. Every key with more
 * than 1/`capacity` of all requests is counted.
 * @throws LimiterError INVALID_OPTIONS
 */
export function topKeys(capacity: number = CAPACITY): TopKeys {
  requireForm('topKeys', 'capacity', capacity, COUNT)
  const cells = new Map<string, Cell>()
  // Once full, a min-heap by frequency, so that the cell to replace comes first.
  const heap: Cell[] = []

  const put = (cell: Cell, at: number): void => {
    heap[at] = cell
    cell.at = at
  }
  const sink = (cell: Cell): void => {
    let { at } = cell
    for (;;) {
      const left = 2 * at + 1
      const right = left + 1
      const least = right < heap.length && countAt(heap, right) < countAt(heap, left) ? right : left
      if (least >= heap.length || countAt(heap, least) >= cell.requests) break
      put(heap[least] as Cell, at)
      at = least
    }
    put(cell, at)
  }
  const floor = (): number => (heap.length < capacity ? 0 : countAt(heap, 0))
  return {
    get floor() {
      return floor()
    },
    onCharge({ rule, key, allowed }) {
      const name = `${rule}\0${key}`
      const refused = allowed ? 0 : 1
      const known = cells.get(name)
      if (known !== undefined) {
        known.requests += 1
        known.refused += refused
        if (heap.length === capacity) sink(known)
        return
      }
      const least = floor()
      const cell = { name, rule, key, requests: least + 1, error: least, refused, at: 0 }
      cells.set(name, cell)
      if (heap.length < capacity) {
        if (heap.push(cell) === capacity) heap.sort((one, other) => one.requests - other.requests).forEach(put)
      } else {
        cells.delete((heap[0] as Cell).name)
        sink(cell)
      }
    },
    top(count) {
      requireForm('topKeys.top', 'count', count, TOP)
      return heap
        .toSorted((one, other) => other.requests - one.requests)
        .slice(0, count)
        .map(({ rule, key, requests, error, refused }) => ({ rule, key, requests, error, refused }))
    },
  }
}

function countAt(heap: readonly Cell[], at: number): number {
  return (heap[at] as Cell).requests
}
