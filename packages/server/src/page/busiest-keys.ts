import type { KeyCount, TopKeys } from 'sluice/observe'

export interface Counted {
  readonly keys: readonly KeyCount[]
  /** The most requests of a key that `keys` lacks. */
  readonly floor: number
}

export function countedBy(keys: TopKeys): Counted {
  return { keys: keys.top(Infinity), floor: keys.floor }
}

/**
 * Merges the counts of several processes (Agarwal et al., "Mergeable summaries", 2012). A key that a process lacks may have had `floor`
 * requests there, which are added to its count and error.
 */
export function busiest(counted: readonly Counted[], most: number): readonly KeyCount[] {
  const floors = counted.reduce((sum, { floor }) => sum + floor, 0)
  const all = new Map<string, KeyCount>()
  for (const { keys, floor } of counted) {
    for (const { rule, key, requests, error, refused } of keys) {
      const name = `${rule}\0${key}`
      const known = all.get(name) ?? { requests: floors, error: floors, refused: 0 }
      const counts = { requests: known.requests - floor + requests, error: known.error - floor + error }
      all.set(name, { rule, key, ...counts, refused: known.refused + refused })
    }
  }
  return [...all.values()].toSorted((one, other) => other.requests - one.requests).slice(0, most)
}
