/** One call: when it began, and how long it took. Milliseconds of the process's clock. */
export interface Run {
  readonly at: number
  readonly wall: number
  /** The time without that for which the thread waited for a processor, because other processes cause that wait. */
  readonly own: number
}

/** A collection of garbage. */
export interface Collection {
  readonly at: number
  readonly ms: number
  readonly kind: string
}

/** The longest of several calls by each measure. It may be another call for each measure. */
export interface Longest {
  readonly wall: number
  readonly own: number
  /** The time without the garbage collections during the call: the time of the code itself. */
  readonly apart: number
}

export function longestCall(runs: readonly Run[], collections: readonly Collection[]): Longest {
  const most = (of: (run: Run) => number): number => runs.reduce((longest, run) => Math.max(longest, of(run)), 0)
  return {
    wall: most(({ wall }) => wall),
    own: most(({ own }) => own),
    apart: most((run) => Math.min(run.own, Math.max(0, run.wall - collectedIn(run, collections)))),
  }
}

/** The longest collection; one of 0 ms if there was none. */
export function longestCollection(collections: readonly Collection[]): Collection {
  return collections.reduce((longest, other) => (other.ms > longest.ms ? other : longest), { at: 0, ms: 0, kind: 'none' })
}

function collectedIn({ at, wall }: Run, collections: readonly Collection[]): number {
  let sum = 0
  for (const other of collections) sum += Math.max(0, Math.min(at + wall, other.at + other.ms) - Math.max(at, other.at))
  return sum
}
