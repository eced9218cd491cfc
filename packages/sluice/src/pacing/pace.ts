import { LimiterError } from '../errors/limiter-error.ts'
import { shown } from '../errors/options.ts'
import type { Release, Turns } from './turns.ts'

export interface Pace<Item> {
  /** Only the item itself, unless items are split. */
  partsOf(item: Item): Iterable<Item>
  /** Resolves when the turn comes, with the result of `Turns.next`. */
  turn(part: Item, signal: AbortSignal): Promise<Release | undefined>
}

/** Tokens: one number for all items, or a function of each. */
export type CostOf<Args extends unknown[]> = number | ((...args: Args) => number)

/** @throws LimiterError INVALID_COST if a function returns no number, because undefined would count as 1 */
export function costOf<Args extends unknown[]>(where: string, cost: CostOf<Args> | undefined, args: Args): number | undefined {
  if (typeof cost !== 'function') return cost
  const value: unknown = cost(...args)
  if (typeof value === 'number') return value
  throw new LimiterError('INVALID_COST', `${where}: what cost returned is ${shown(value)}, expected a number above 0`)
}

export function byItem<Item>(where: string, turns: Turns, cost: CostOf<[Item]> | undefined): Pace<Item> {
  return {
    partsOf: (item) => [item],
    turn: (item, signal) => turns.next(costOf(where, cost, [item]), signal),
  }
}

/** Each byte costs one token. A chunk above the limit's capacity is split, because its turn could never come. */
export function byBytes<Item>(where: string, turns: Turns, capacity: number): Pace<Item> {
  const most = Math.floor(capacity)
  return {
    *partsOf(item) {
      const bytes = bytesOf(where, item)
      if (bytes.length <= most) yield item
      else for (let from = 0; from < bytes.length; from += most) yield bytes.subarray(from, from + most) as Item
    },
    async turn(part, signal) {
      const { length } = bytesOf(where, part)
      // An empty chunk costs nothing.
      return length > 0 ? turns.next(length, signal) : undefined
    },
  }
}

function bytesOf(where: string, item: unknown): Uint8Array {
  // No `instanceof`, because the chunk may come from another realm.
  if (ArrayBuffer.isView(item) && (item as Uint8Array).BYTES_PER_ELEMENT === 1 && 'subarray' in item) return item as Uint8Array
  throw new LimiterError('INVALID_OPTIONS', `${where}: a chunk is ${shown(item)}, expected bytes (a Uint8Array); encode texts first`)
}
