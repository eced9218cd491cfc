import { type Quota, windowOf } from './contestants/contestant.ts'

/** The interval of one window's length in which most requests were admitted. Instants are microseconds. */
export interface WorstWindow {
  readonly from: number
  readonly to: number
  /** The requests that were admitted in it. */
  readonly count: number
}

/** Finds the interval, shorter than the window of the quota, in which most requests were admitted. The instants may be in any order. */
export function worstWindow(instants: readonly number[], quota: Quota): WorstWindow {
  const all = instants.toSorted((one, other) => one - other)
  const window = Math.round(windowOf(quota) * 1e6)
  let worst: WorstWindow = { from: all[0] ?? 0, to: all[0] ?? 0, count: 0 }
  let first = 0
  for (const [index, to] of all.entries()) {
    while ((all[first] as number) <= to - window) first += 1
    if (index - first + 1 > worst.count) worst = { from: all[first] as number, to, count: index - first + 1 }
  }
  return worst
}
