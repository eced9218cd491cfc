import type { Micros } from '../time/micros.ts'
import type { MicroTokens } from './algorithm.ts'

/** Oldest first: the micro-tokens charged at one instant each. The instants increase. */
export interface Entries {
  readonly length: number
  at(index: number): Micros
  /** The sum of all entries up to and including this one, plus a constant. The constant is `through(-1)`, and may be any number. */
  through(index: number): MicroTokens
}

/**
 * A log and one charge that is not applied yet, so that a store can apply it to entries in its own form. The `skip` oldest entries are
 * removed. Then `added` micro-tokens (0 for no charge) become a new entry at `addedAt`. If `merges` is set, the newest entry moves to
 * `addedAt` and takes them instead.
 *
 * `window`: that of the plan that wrote the state. `keepFor`: the longest window of an earlier plan if longer than `window`, otherwise 0.
 * Entries are kept that long, so that two alternating policies are both exact (law 7).
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

/** The entries after the charge, in the form of `arrayEntries`. */
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

/** With the charge applied. Without a charge, the same object. */
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

/** `length` if no entry from `from` on is later than `instant`. */
export function firstAfter(entries: Entries, instant: Micros, from: number): number {
  let [low, high] = [from, entries.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (entries.at(middle) > instant) high = middle
    else low = middle + 1
  }
  return low
}

/** `length` if no running sum from `from` on reaches `sum`. */
export function firstThrough(entries: Entries, sum: MicroTokens, from: number): number {
  let [low, high] = [from, entries.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (entries.through(middle) >= sum) high = middle
    else low = middle + 1
  }
  return low
}
