import type { Micros } from '../time/micros.ts'
import type { MicroTokens } from './algorithm.ts'

/** Entries of a log, oldest first. Each entry is the micro-tokens that were charged at one instant. The instants increase. */
export interface Entries {
  readonly length: number
  at(index: number): Micros
  /**
   * The running sum: micro-tokens of all entries up to and including this one, plus a constant. The constant is `through(-1)`, and may be
   * any number.
   */
  through(index: number): MicroTokens
}

/**
 * A log and one charge that is not applied to its entries yet. A store can so apply the charge to entries that it keeps in its own form.
 * First the `skip` oldest entries are removed. Then `added` micro-tokens (0 for no charge) are added at `addedAt`. If `merges` is set, the
 * newest entry moves to `addedAt` and takes these micro-tokens; otherwise they become a new entry.
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

/** The same state with its charge applied. Its entries are a new list, independent of the old ones. Without a charge, the same object. */
export function settled(state: LogState): LogState {
  return state.added === 0 ? state : stateOf(entryPairs(state), state.window, state.keepFor)
}

export function stateOf(pairs: readonly number[], window: Micros, keepFor: Micros): LogState {
  return { entries: arrayEntries(pairs), skip: 0, addedAt: 0, added: 0, merges: false, window, keepFor }
}

/** The instant of the newest charge; 0 if nothing was charged. */
export function newestOf({ entries, skip, addedAt, added }: LogState): Micros {
  if (added > 0) return addedAt
  return entries.length > skip ? entries.at(entries.length - 1) : 0
}

/**
 * The index of the first entry that is later than `instant`, among the entries from index `from` on; `length` if there is none. A binary
 * search, because logs are long.
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

/**
 * The index of the first entry whose running sum (`through`) reaches `sum`, among the entries from index `from` on; `length` if there is
 * none.
 */
export function firstThrough(entries: Entries, sum: MicroTokens, from: number): number {
  let [low, high] = [from, entries.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (entries.through(middle) >= sum) high = middle
    else low = middle + 1
  }
  return low
}
