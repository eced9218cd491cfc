import { stateName } from '../keys/encode.ts'
import type { AnyLimit } from '../algorithms/algorithm.ts'
import { type KnownShares, sharesOf } from './region-port.ts'
import { type CallGroup, failedBy, type GroupVerdict, StoreFailure } from './store.ts'

/** Splits groups, in order, into runs within which each key has one limit. */
export function runsOf(groups: readonly CallGroup[]): readonly (readonly CallGroup[])[] {
  let run: CallGroup[] = []
  const runs = [run]
  /** By the key's name: its shares, or its limit if it has no shares. */
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
 * If the first run fails, nothing was charged, and the whole call fails. A later failure fails only its own groups and those after them.
 * Otherwise a caller might send the whole call again, and charge the earlier runs twice.
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
