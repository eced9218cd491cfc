import type { AnyLimit } from '../../algorithms/algorithm.ts'
import type { StateId } from '../../stores/store.ts'
import { unitsByShift, unitsIn } from '../rights/cell.ts'
import type { RegionalLimit } from '../rights/limit.ts'
import { type Share, shareOf } from '../rights/share.ts'
import type { RegionStore, Rows } from '../rights/state.ts'
import { newRows } from '../rights/transfer.ts'
import { limitOfKey, mayBeWhole } from '../rights/undivided.ts'

/** A region's shares of one limit, valid while `region` is unchanged. */
export interface LimitShares {
  readonly whole: AnyLimit
  readonly region: RegionStore
  shareOf(id: StateId, rows: Rows | undefined): Share
}

export function createLimitShares(region: RegionStore, whole: AnyLimit, limit: RegionalLimit): LimitShares {
  /**
   * The share of all keys without rows (records of units sent and received). Undefined if one region may hold all units of a key
   * (`mayBeWhole`): the share then depends on the key.
   */
  const plain = mayBeWhole(region, limit) ? undefined : shareOf(whole, limit, region, undefined)
  const byUnits = new Map<number, Share>()
  const byHome = new Map<string, Share>()
  const shareOfPlain = (id: StateId): Share => {
    if (plain !== undefined) return plain
    const own = limitOfKey(limit, id)
    // Keys with the same units after each shift (start or end of a time of constant weights) have the same share.
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
      // Keys with rows of this era and equal units have the same share.
      const share = byUnits.get(units) ?? shareOf(whole, limit, region, newRows(region, units, limit))
      byUnits.set(units, share)
      return share
    },
  }
}
