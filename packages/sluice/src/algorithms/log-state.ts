import type { Micros } from '../time/micros.ts'
import type { MicroTokens } from './algorithm.ts'

/** Entries of a log, oldest first: instants, each later than the one before, at which something was charged. */
export interface Entries {
  readonly length: number
  at(index: number): Micros
  /** Micro-tokens of all entries up to and with this one, counted from any start; `through(-1)` is that start. */
  through(index: number): MicroTokens
}

/**
 * A log and what one charge changes of it, so that a store can apply it to entries of its own: the first `skip` entries go,
 * then `added` micro-tokens (0 for none) come at `addedAt`: with `merges` the newest entry moves there and takes them, otherwise
 * they are an entry of their own. `window`: the plan that wrote it; `hold`: the longest window of any earlier plan of this
 * state where that is longer, otherwise 0. Entries are kept that long, so that two policies taking turns are both exact (law 7).
 */
export interface LogState {
  entries: Entries
  skip: number
  addedAt: Micros
  added: MicroTokens
  merges: boolean
  window: Micros
  hold: Micros
}

/** Entries from pairs of numbers: instant, micro-tokens, and so on, oldest first. */
export function arrayEntries(numbers: readonly number[]): Entries {
  const sums: number[] = []
  let sum = 0
  for (let index = 1; index < numbers.length; index += 2) sums.push((sum += numbers[index] as number))
  return {
    length: sums.length,
    at: (index) => numbers[2 * index] as number,
    through: (index) => (index < 0 ? 0 : (sums[index] as number)),
  }
}

/** The entries as they are once the charge is applied, as pairs of numbers: instant, micro-tokens. */
export function entryPairs({ entries, skip, addedAt, added, merges }: LogState): number[] {
  const pairs: number[] = []
  for (let index = skip; index < entries.length; index += 1) {
    pairs.push(entries.at(index), entries.through(index) - entries.through(index - 1))
  }
  if (added === 0) return pairs
  if (!merges) return [...pairs, addedAt, added]
  const newest = pairs.at(-1) as number
  return [...pairs.slice(0, -2), addedAt, newest + added]
}

/** The same state with nothing left to add: its entries are a plain list of its own. */
export function settled(state: LogState): LogState {
  return state.added === 0 ? state : stateOf(entryPairs(state), state.window, state.hold)
}

export function stateOf(pairs: readonly number[], window: Micros, hold: Micros): LogState {
  return { entries: arrayEntries(pairs), skip: 0, addedAt: 0, added: 0, merges: false, window, hold }
}

/** The newest instant at which something was charged; 0 where nothing was. */
export function newestOf({ entries, skip, addedAt, added }: LogState): Micros {
  if (added > 0) return addedAt
  return entries.length > skip ? entries.at(entries.length - 1) : 0
}

/** The first entry from `from` on that is later than an instant; `length` where none is. By halves: logs are long. */
export function firstAfter(entries: Entries, instant: Micros, from: number): number {
  let [low, high] = [from, entries.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (entries.at(middle) > instant) high = middle
    else low = middle + 1
  }
  return low
}

/** The first entry from `from` on up to which so many micro-tokens or more were charged; `length` where there are not so many. */
export function firstThrough(entries: Entries, sum: MicroTokens, from: number): number {
  let [low, high] = [from, entries.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (entries.through(middle) >= sum) high = middle
    else low = middle + 1
  }
  return low
}
