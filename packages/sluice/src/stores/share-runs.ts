import { stateName } from '../keys/encode.ts'
import type { AnyLimit } from '../algorithms/algorithm.ts'
import { type KnownShares, sharesOf } from './region-port.ts'
import { type CallGroup, failedBy, type GroupVerdict, StoreFailure } from './store.ts'

/** Splits a list, in order, before each group that names a key under another limit than its run so far: these need calls of their own. */
export function runsOf(groups: readonly CallGroup[]): readonly (readonly CallGroup[])[] {
  let run: CallGroup[] = []
  const runs = [run]
  /** What a call of the run decides each key by: its shares, or a limit without any. */
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
 * Decides runs one after the other. Only if the first fails does the whole call fail: after that, groups were charged, and a call that fails
 * as a whole may be sent again as a whole. Then the groups of the run that failed have its failure, and those of later ones are not sent.
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
