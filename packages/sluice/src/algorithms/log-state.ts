import type { Micros } from '../time/micros.ts'
import type { MicroTokens } from './algorithm.ts'

/** Entries of a log, oldest first. Each has the micro-tokens charged at one instant, which is later than that of the entry before. */
export interface Entries {
  readonly length: number
  at(index: number): Micros
  /** Micro-tokens of all entries up to and including this one, plus an arbitrary constant: `through(-1)`. */
  through(index: number): MicroTokens
}

/**
 * A log and a charge that is not applied to its entries yet, so that a store can apply the charge to entries of its own. First the `skip`
 * oldest entries are removed. Then `added` micro-tokens (0 for none) are added at `addedAt`. With `merges`, the newest entry moves to
 * `addedAt` and takes these micro-tokens; otherwise they become a new entry.
 *
 * `window`: the window of the plan that wrote the state. `keepFor`: the longest window of any earlier plan of this state if that is longer
 * than `window`, otherwise 0. Entries are kept for `keepFor`, so that two alternating policies are both exact (law 7).
 */
export interface LogState {
  entries: Entries
  skip: number
  addedAt: Micros
  added: MicroTokens
  merges: boolean
  window: Micros
  keepFor: Micros
}

/** Entries from a flat list of pairs, oldest first: instant, micro-tokens. */
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

/** The entries after the charge, as a flat list of pairs: instant, micro-tokens. */
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

/** The same state with its charge applied. Its entries are a plain list of their own. */
export function settled(state: LogState): LogState {
  return state.added === 0 ? state : stateOf(entryPairs(state), state.window, state.keepFor)
}

export function stateOf(pairs: readonly number[], window: Micros, keepFor: Micros): LogState {
  return { entries: arrayEntries(pairs), skip: 0, addedAt: 0, added: 0, merges: false, window, keepFor }
}

/** The newest instant of a charge; 0 if there is none. */
export function newestOf({ entries, skip, addedAt, added }: LogState): Micros {
  if (added > 0) return addedAt
  return entries.length > skip ? entries.at(entries.length - 1) : 0
}

/**
 * The index of the first entry at or after `from` that is later than the instant; `length` if there is none. A binary search, because logs
 * are long.
 */
export function firstAfter(entries: Entries, instant: Micros, from: number): number {
  let [low, high] = [from, entries.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (entries.at(middle) > instant) high = middle
    else low = middle + 1
  }
  return low
}

/** The index of the first entry at or after `from` whose running sum (`through`) reaches `sum`; `length` if none does. */
export function firstThrough(entries: Entries, sum: MicroTokens, from: number): number {
  let [low, high] = [from, entries.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (entries.through(middle) >= sum) high = middle
    else low = middle + 1
  }
  return low
}
