import type { CallGroup, DecideOptions, GroupVerdict, Store, StoreFailure } from '../store.ts'
import { arrayText, digestOf } from './encode.ts'
import { isLockTimeout } from './failures.ts'
import type { Statement } from './lanes.ts'
import type { Query } from './query.ts'
import { digestText } from './statements.ts'

type Groups = readonly CallGroup[]
type Verdicts = Promise<readonly GroupVerdict[]>
type Decide = (groups: Groups, locking: 'wait' | 'fail') => Verdicts

/**
 * With `onContention: 'wait'`, one call of `decide` waits for locks. With `fail`, groups with a locked row fail as `contention`, and a
 * second call decides the others.
 */
export type DecideLocked = (groups: Groups, options: DecideOptions | undefined, decide: Decide) => Verdicts

export function decideAroundLocks(onContention: 'wait' | 'fail', query: Query, locked: Statement): DecideLocked {
  /** False for all groups if the query failed. */
  const areFree = async (groups: Groups, options: DecideOptions | undefined): Promise<boolean[]> => {
    const digests = groups.map(({ calls }) => calls.map(({ id }) => digestOf(id)))
    const rows = await query(locked, [arrayText([...new Set(digests.flat())])], options, 'fail').catch(() => undefined)
    const found = rows && new Set(rows.map(({ id }) => digestText(id)))
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
      // The first call has charged nothing, so a failure of the second concerns only its own groups.
      const verdicts = await decide(free, 'fail').catch((failure: StoreFailure): GroupVerdict[] => free.map(() => ({ failure })))
      let next = 0
      return groups.map((_, index) => (isFree[index] === true ? (verdicts[next++] as GroupVerdict) : failed))
    }
  }
}

/** Peeks lock nothing, so they are passed on. */
export function swapAround(swap: Store, decideLocked: DecideLocked): Store['decide'] {
  return (groups, options) => {
    if (options?.charge === false) return swap.decide(groups, options)
    const failing = { ...options, onContention: 'fail' } as const
    return decideLocked(groups, options, (some, locking) => swap.decide(some, locking === 'fail' ? failing : options))
  }
}
