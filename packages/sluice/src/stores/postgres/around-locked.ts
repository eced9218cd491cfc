import type { CallGroup, DecideOptions, GroupVerdict, Store, StoreFailure } from '../store.ts'
import { arrayText, digestOf } from './encode.ts'
import { isLockTimeout } from './failures.ts'
import type { Statement } from './lanes.ts'
import type { Query } from './query.ts'
import { digestsIn } from './statements.ts'

type Decide = (groups: readonly CallGroup[], locking: 'wait' | 'fail') => Promise<readonly GroupVerdict[]>

/** `wait`: decides by one call. `fail`: if it finds a locked row, groups of locked rows fail, and the others are decided again, once. */
export type DecideLocked = (
  groups: readonly CallGroup[],
  options: DecideOptions | undefined,
  decide: Decide,
) => Promise<readonly GroupVerdict[]>

export function decideAroundLocks(onContention: 'wait' | 'fail', query: Query, locked: Statement): DecideLocked {
  /** By group: whether none of its rows is locked; false if that could not be found out. */
  const areFree = async (groups: readonly CallGroup[], options: DecideOptions | undefined): Promise<boolean[]> => {
    const digests = groups.map(({ calls }) => calls.map(({ id }) => digestOf(id)))
    const rows = await query(locked, [arrayText([...new Set(digests.flat())])], options, 'fail').catch(() => undefined)
    const found = rows === undefined ? undefined : digestsIn(rows)
    return digests.map((own) => found !== undefined && !own.some((digest) => found.has(digest)))
  }
  return async (groups, options, decide) => {
    if ((options?.onContention ?? onContention) === 'wait') return decide(groups, 'wait')
    try {
      return await decide(groups, 'fail')
    } catch (error) {
      if (!isLockTimeout(error)) throw error
      const failed: GroupVerdict = { failure: error as StoreFailure }
      const isFree = groups.length === 1 ? [false] : await areFree(groups, options)
      const free = groups.filter((_, index) => isFree[index] === true)
      if (free.length === 0) return groups.map(() => failed)
      // Nothing was charged yet: whatever fails from here on concerns the free groups alone.
      const verdicts = await decide(free, 'fail').catch((failure: StoreFailure): GroupVerdict[] => free.map(() => ({ failure })))
      let next = 0
      return groups.map((_, index) => (isFree[index] === true ? (verdicts[next++] as GroupVerdict) : failed))
    }
  }
}

/** `decide` of a compare-and-swap store, around locked rows. */
export function swapAround(swap: Store, decideLocked: DecideLocked): Store['decide'] {
  return (groups, options) =>
    options?.charge === false
      ? swap.decide(groups, options)
      : decideLocked(groups, options, (some, locking) =>
          swap.decide(some, locking === 'fail' ? { ...options, onContention: 'fail' } : options),
        )
}
