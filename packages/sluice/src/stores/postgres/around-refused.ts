import { type CallGroup, type DecideOptions, failedBy, type GroupVerdict } from '../store.ts'
import { isOfOtherKind } from './failures.ts'
import type { Locking } from './lanes.ts'

type Decide = (groups: readonly CallGroup[], options: DecideOptions | undefined, locking: Locking) => Promise<readonly GroupVerdict[]>

/**
 * Decides groups by `decide`, although a newer version of Sluice has written states of some of them. The database refuses a statement with
 * such a state as a whole, and charges nothing. So the groups are decided by halves, until only the groups of such states have failed:
 * other callers, whose groups are in the same batch, are decided. Peeks are not divided, because each group of a peek is decided as if the
 * groups before it had been charged.
 */
export function aroundRefused(decide: Decide): Decide {
  const byHalves: Decide = async (groups, options, locking) => {
    const failed = (error: unknown): readonly GroupVerdict[] => groups.map(() => failedBy(error))
    return decide(groups, options, locking).catch((error: unknown) => {
      // If the second half fails for another reason, the first half has been charged all the same.
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
