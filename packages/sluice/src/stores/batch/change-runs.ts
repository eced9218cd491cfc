import { type Change, type ChangeResult, failedBy } from '../store.ts'

export type Adjustment = Extract<Change, { readonly kind: 'adjust' }>

/**
 * Changes that one call to the server can make; never empty. All have the same kind. Blocks have the same length, adjustments the same
 * `receipt`.
 */
export type ChangeRun = readonly Change[]

/**
 * If a run fails, each of its changes gets the failure, and the next run is made nevertheless.
 * @param make resolves with one result for each change, or with undefined if all succeeded
 */
export async function inRuns(
  changes: readonly Change[],
  make: (run: ChangeRun) => Promise<readonly ChangeResult[] | void>,
): Promise<ChangeResult[]> {
  const results: ChangeResult[] = []
  while (results.length < changes.length) {
    const run = runFrom(changes, results.length)
    results.push(...(await resultsOf(run, make(run))))
  }
  return results
}

function runFrom(changes: readonly Change[], from: number): ChangeRun {
  const first = changes[from] as Change
  let to = from + 1
  while (to < changes.length && isAlike(first, changes[to] as Change)) to += 1
  return changes.slice(from, to)
}

function isAlike(one: Change, other: Change): boolean {
  if (one.kind === 'adjust') return other.kind === 'adjust' && other.receipt === one.receipt
  if (one.kind === 'block') return other.kind === 'block' && other.micros === one.micros
  return other.kind === one.kind
}

async function resultsOf(run: ChangeRun, made: Promise<readonly ChangeResult[] | void>): Promise<readonly ChangeResult[]> {
  try {
    return (await made) ?? run.map(() => ({}))
  } catch (error) {
    const failed = failedBy(error)
    return run.map(() => failed)
  }
}
