import { stateName } from '../keys/encode.ts'
import type { AnyLimit } from '../algorithms/algorithm.ts'
import { type KnownShares, sharesOf } from './region-port.ts'
import { type CallGroup, failedBy, type GroupVerdict, StoreFailure } from './store.ts'

/** Splits a list of groups, in order, into runs within which each key has one limit. Each run is sent in a separate call. */
export function runsOf(groups: readonly CallGroup[]): readonly (readonly CallGroup[])[] {
  let run: CallGroup[] = []
  const runs = [run]
  /** For each key of the run, by name: the shares that decide it, or its limit if that has no shares. */
  const found = new Map<string, KnownShares | AnyLimit>()
  for (const group of groups) {
    const named = group.calls.map(({ id, limit }) => ({ name: stateName(id), by: sharesOf(limit) ?? limit }))
    if (named.some(({ name, by }) => (found.get(name) ?? by) !== by)) {
      run = []
      runs.push(run)
      found.clear()
    }
    run.push(group)
    for (const { name, by } of named) found.set(name, by)
  }
  return runs
}

/**
 * Decides runs one after another. If the first run fails, nothing was charged, and the whole call fails. If a later run fails, the call
 * must not fail as a whole: a caller may send a failed call again, and the earlier runs would be charged twice. So only the groups of the
 * failed run get its failure, and the groups of later runs fail unsent.
 */
export async function inOrder(
  runs: readonly (readonly CallGroup[])[],
  decide: (run: readonly CallGroup[]) => Promise<readonly GroupVerdict[]>,
): Promise<readonly GroupVerdict[]> {
  const verdicts: GroupVerdict[] = []
  for (const [index, run] of runs.entries()) {
    try {
      verdicts.push(...(await decide(run)))
    } catch (error) {
      if (index === 0) throw error
      const failed = failedBy(error)
      const { kind, message, cause } = failed.failure
      const unsent = { failure: new StoreFailure(kind, 'no', message, { cause }) }
      const later = runs.slice(index + 1).flat()
      return [...verdicts, ...run.map(() => failed), ...later.map(() => unsent)]
    }
  }
  return verdicts
}
