import { type CallGroup, type DecideOptions, failedBy, type GroupVerdict } from '../store.ts'
import { isOfOtherKind } from './failures.ts'
import type { Locking } from './lanes.ts'

type Decide = (groups: readonly CallGroup[], options: DecideOptions | undefined, locking: Locking) => Promise<readonly GroupVerdict[]>

/**
 * If a newer version of Sluice has written some states, the database refuses the whole statement. So groups are decided by halves, until
 * only those with such states fail. Peeks are not divided, because each group is decided as if the earlier ones had been charged.
 */
export function aroundRefused(decide: Decide): Decide {
  const byHalves: Decide = async (groups, options, locking) => {
    const failed = (error: unknown): readonly GroupVerdict[] => groups.map(() => failedBy(error))
    return decide(groups, options, locking).catch((error: unknown) => {
      // Does not reject, because the other half may have been charged.
      if (groups.length === 1 || !isOfOtherKind(error)) return failed(error)
      return inHalves(groups, options, locking)
    })
  }
  const inHalves: Decide = async (groups, options, locking) => {
    const half = Math.ceil(groups.length / 2)
    const first = await byHalves(groups.slice(0, half), options, locking)
    return [...first, ...(await byHalves(groups.slice(half), options, locking))]
  }
  return async (groups, options, locking) => {
    try {
      return await decide(groups, options, locking)
    } catch (error) {
      if (locking === 'none' || !isOfOtherKind(error)) throw error
      return groups.length === 1 ? [failedBy(error)] : inHalves(groups, options, locking)
    }
  }
}
