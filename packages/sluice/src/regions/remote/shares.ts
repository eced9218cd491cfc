import type { AnyLimit } from '../../algorithms/algorithm.ts'
import type { KnownShare, KnownShares } from '../../stores/region-port.ts'
import { type CallOptions, type StateId } from '../../stores/store.ts'
import { MAX_MICROS } from '../../time/micros.ts'
import { lastShift, unitsOf } from '../rights/cell.ts'
import type { RegionalLimit } from '../rights/limit.ts'
import { isOfRun, type StoredRows } from './rows.ts'
import { settledAt } from './cell.ts'
import type { KnownRegion, KnownRows } from './known.ts'
import { plainShare } from '../rights/share.ts'
import type { RegionStore } from '../rights/state.ts'
import { limitOfKey, mayBeWhole } from '../rights/undivided.ts'

export interface SharesParts {
  readonly known: KnownRegion | undefined
  rowsOf(id: StateId): KnownRows | undefined
  refresh(options: CallOptions | undefined): Promise<unknown>
  settle(id: StateId, limit: RegionalLimit, options: CallOptions | undefined): Promise<void>
}

/** The token buckets by which a region decides calls of one limit, from what this process knows. */
export function createShares(parts: SharesParts, whole: AnyLimit, limit: RegionalLimit): KnownShares {
  const byUnits = new Map<number, AnyLimit>()
  let viewed: { readonly of: KnownRegion; readonly view: KnownShares['view'] } | undefined
  const byRows = new WeakMap<KnownRows, { readonly of: KnownRegion; readonly share: KnownShare }>()
  /**
   * Shared by keys of which no units were sent or received. `share` is undefined if the limit is not divided: each key is then in one
   * region, so keys have different shares.
   */
  let plain: { readonly of: KnownRegion; readonly share: KnownShare | undefined } | undefined
  const make = (current: RegionStore, change: number, stored: StoredRows | undefined, own: RegionalLimit): KnownShare => {
    const units = unitsOf(current, { bucket: undefined, rows: stored?.rows }, own)
    const share = byUnits.get(units) ?? plainShare(whole, limit, units)
    byUnits.set(units, share)
    // If the key's rows (sent and received units) are of an earlier era (time of constant weights) or name another limit, an absent state
    // does not mean a full bucket. A state must then be written before a call.
    const isKnown = change === 0 || (stored?.rows.era === current.era && stored.policy === limit.policy)
    return { limit: share, holds: units > 0, change, settled: isKnown ? settledAt(current, own, units) : MAX_MICROS }
  }
  return {
    get view() {
      const { known } = parts
      if (known === undefined) return undefined
      if (viewed?.of !== known)
        viewed = { of: known, view: { run: known.region.run, begins: known.begins, shiftedAt: lastShift(known.region).at } }
      return viewed.view
    },
    shareOf(id) {
      const known = parts.known as KnownRegion
      const { region: current } = known
      const found = parts.rowsOf(id)
      if (found !== undefined) {
        let made = byRows.get(found)
        if (made?.of !== known) {
          const stored = isOfRun(found.stored, current) ? found.stored : undefined
          byRows.set(found, (made = { of: known, share: make(current, found.change, stored, limitOfKey(limit, id)) }))
        }
        return made.share
      }
      // Most keys have no rows, and so the same share.
      if (plain === undefined || plain.of !== known)
        plain = { of: known, share: mayBeWhole(current, limit) ? undefined : make(current, 0, undefined, limit) }
      return plain.share ?? make(current, 0, undefined, limitOfKey(limit, id))
    },
    refresh: async (options) => void (await parts.refresh(options)),
    settle: (id, options) => parts.settle(id, limit, options),
  }
}
