import type { CallGroup, GroupVerdict, StoreFailure } from '../store.ts'
import { digestOf } from './encode.ts'
import { isLockTimeout } from './failures.ts'

/**
 * Decides groups by `decide`, which rejects if a row is locked. The groups of locked rows then fail with that failure, and the others are
 * decided again, once.
 * @param lockedAmong the digests of locked rows among those of these digests
 */
export async function aroundLocked(
  groups: readonly CallGroup[],
  decide: (groups: readonly CallGroup[]) => Promise<readonly GroupVerdict[]>,
  lockedAmong: (digests: readonly string[]) => Promise<ReadonlySet<string>>,
): Promise<readonly GroupVerdict[]> {
  try {
    return await decide(groups)
  } catch (error) {
    if (!isLockTimeout(error)) throw error
    const failed: GroupVerdict = { failure: error as StoreFailure }
    const isFree = groups.length === 1 ? [false] : await areFree(groups, lockedAmong)
    const free = groups.filter((_, index) => isFree[index] === true)
    if (free.length === 0) return groups.map(() => failed)
    // Nothing was charged yet: whatever fails from here on concerns the free groups alone.
    const verdicts = await decide(free).catch((failure: StoreFailure): GroupVerdict[] => free.map(() => ({ failure })))
    let next = 0
    return groups.map((_, index) => (isFree[index] === true ? (verdicts[next++] as GroupVerdict) : failed))
  }
}

/** By group: whether none of its rows is locked; false if that could not be found out. */
async function areFree(
  groups: readonly CallGroup[],
  lockedAmong: (digests: readonly string[]) => Promise<ReadonlySet<string>>,
): Promise<boolean[]> {
  const digests = groups.map(({ calls }) => calls.map(({ id }) => digestOf(id)))
  const locked = await lockedAmong([...new Set(digests.flat())]).catch(() => undefined)
  return digests.map((own) => locked !== undefined && !own.some((digest) => locked.has(digest)))
}
