import type { AnyLimit } from '../../algorithms/algorithm.ts'
import type { StateId } from '../../stores/store.ts'
import { unitsByShift, unitsIn } from '../rights/cell.ts'
import type { RegionalLimit } from '../rights/limit.ts'
import { type Share, shareOf } from '../rights/share.ts'
import type { RegionStore, Rows } from '../rights/state.ts'
import { newRows } from '../rights/transfer.ts'
import { limitOfKey, mayBeWhole } from '../rights/undivided.ts'

/** The shares of a limit, as long as the region stays the same. */
export interface LimitShares {
  readonly whole: AnyLimit
  readonly region: RegionStore
  /** @param rows of the key; undefined if it has none */
  shareOf(id: StateId, rows: Rows | undefined): Share
}

export function createLimitShares(region: RegionStore, whole: AnyLimit, limit: RegionalLimit): LimitShares {
  /** Of keys without rows. Undefined if the limit is not divided: then it depends on the key. */
  const plain = mayBeWhole(region, limit) ? undefined : shareOf(whole, limit, region, undefined)
  const byUnits = new Map<number, Share>()
  const byHome = new Map<string, Share>()
  const shareOfPlain = (id: StateId): Share => {
    if (plain !== undefined) return plain
    const own = limitOfKey(limit, id)
    // Only what a key holds after each shift matters to its share.
    const units = unitsByShift(region, own).join(' ')
    const share = byHome.get(units) ?? shareOf(whole, own, region, undefined)
    byHome.set(units, share)
    return share
  }
  return {
    whole,
    region,
    shareOf(id, rows) {
      if (rows === undefined) return shareOfPlain(id)
      if (rows.era !== region.era || rows.whole || plain === undefined) return shareOf(whole, limitOfKey(limit, id), region, rows)
      const units = unitsIn(rows)
      // Of rows, only the era and the units in it matter to a share: keys with as many units have the same.
      const share = byUnits.get(units) ?? shareOf(whole, limit, region, newRows(region, units, limit))
      byUnits.set(units, share)
      return share
    },
  }
}
