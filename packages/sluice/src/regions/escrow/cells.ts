import type { AnyLimit } from '../../algorithms/algorithm.ts'
import { type BucketState, tokenBucketKernel } from '../../algorithms/token-bucket.ts'
import type { StateId } from '../../stores/store.ts'
import type { Micros } from '../../time/micros.ts'
import { currentCell, isOf } from '../rights/cell.ts'
import { adopted } from '../rights/decide.ts'
import { bucketOf, converted, type Entry, isOther } from './entry.ts'
import type { EscrowEras } from './eras.ts'
import type { EscrowKeys } from './keys.ts'
import type { LastLimits, OwnLimit } from '../last-limits.ts'
import type { RegionalLimit } from '../rights/limit.ts'
import type { RewritingStore } from '../rewriting-store.ts'
import type { Cell, RegionStore } from '../rights/state.ts'
import { inDoubt } from '../rights/transfer.ts'
import { keyed } from '../rights/undivided.ts'

/** The limit of a cell (one key of one limit), or a function that finds it. */
export type CellLimit = OwnLimit | ((cell: Cell) => OwnLimit)

/** Changes cells. A cell has the key's state in the store, and the key's rows: records of the units sent and received. */
export interface EscrowCells {
  /** Returns false, with nothing stored, if `program` returned nothing, or if the store has no room. */
  rewrite(id: StateId, by: CellLimit, program: (cell: Cell, own: OwnLimit, now: Micros) => Cell | undefined): boolean
  /**
   * Notes the limit of a key's present call. If the last call had another limit and the key has no state, the full bucket of the last limit
   * is converted to the present one and stored. Returns false if the key has a state that another limit wrote, or if the store has no room.
   */
  noteUse(entry: Entry, whole: AnyLimit, limit: RegionalLimit): boolean
  /**
   * Called when a new era (with new weights) has begun. Converts the state of each key with rows (what was sent and received) to the key's
   * new share, and drops the rows. Until then, only the rows show its old share.
   * @param before the region in the era that is over
   */
  settleAll(before: RegionStore): void
}

/** @param maxCells the most keys that may have rows */
export function createEscrowCells(
  store: RewritingStore,
  eras: Pick<EscrowEras, 'region'>,
  keys: EscrowKeys,
  limits: LastLimits,
  maxCells: number,
): EscrowCells {
  return {
    rewrite(id, by, program) {
      const { region } = eras
      const entry = keys.find(id)
      if (entry === undefined && keys.size >= maxCells) return false
      let made: Cell | undefined
      let own: OwnLimit | undefined
      const kept = store.rewrite(id, tokenBucketKernel, (state, now) => {
        const found = { bucket: state as BucketState | undefined, rows: entry?.rows }
        own = keyed(typeof by === 'function' ? by(found) : by, id)
        const cell =
          entry === undefined || !isOther(region, entry, own.limit)
            ? found
            : { ...found, bucket: bucketOf(region, entry, found.bucket, now) }
        made = program(cell, own, now)
        const bucket = made?.bucket
        return bucket === undefined
          ? undefined
          : { limit: { ...own.whole, algorithm: tokenBucketKernel, plan: bucket.plan }, state: bucket }
      })
      const rows = made?.rows
      if (!kept || rows === undefined || own === undefined) return false
      const { whole, limit, scope, doubt } = own
      const changed = { whole, limit, fullBy: limit, rows, doubtful: doubt !== undefined, of: undefined }
      if (entry === undefined) keys.add({ id: { scope, key: id.key }, changed: 0, share: undefined, ...changed })
      else keys.change(Object.assign(entry, changed))
      return true
    },
    noteUse(entry, whole, limit) {
      const { region } = eras
      let noted = !isOther(region, entry, limit)
      const kept =
        noted ||
        store.rewrite(entry.id, tokenBucketKernel, (state, now) => {
          noted = state === undefined || isOf(region, { bucket: state as BucketState, rows: entry.rows }, limit)
          const next = state === undefined ? converted(region, entry, limit, now) : undefined
          return next && { limit: { ...whole, algorithm: tokenBucketKernel, plan: next.plan }, state: next }
        })
      if (kept && noted) entry.fullBy = limit
      Object.assign(entry, { whole, limit, doubtful: false })
      return kept && noted
    },
    settleAll(before) {
      for (const entry of keys.all())
        if (entry.rows.era !== eras.region.era && settle(store, before, eras.region, entry, limits)) keys.drop(entry)
    },
  }
}

/** Converts the state of one key to its share in the present era (time of constant weights). Returns false if the store has no room. */
function settle(store: RewritingStore, before: RegionStore, region: RegionStore, entry: Entry, limits: LastLimits): boolean {
  const { id, whole, limit, rows, doubtful } = entry
  return store.rewrite(id, tokenBucketKernel, (state, now) => {
    const cell = { bucket: bucketOf(before, entry, state, now), rows }
    const current = currentCell(region, cell, limit, now)
    const bucket =
      doubtful && !isOf(region, cell, limit) ? inDoubt(current, limit, limits.fillOf(id.scope.text)) : adopted(region, current, limit)
    return { limit: { ...whole, algorithm: tokenBucketKernel, plan: bucket?.plan ?? limit.whole }, state: bucket }
  })
}
