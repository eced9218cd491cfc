import type { AnyLimit } from '../../algorithms/algorithm.ts'
import type { BucketState } from '../../algorithms/token-bucket.ts'
import type { StateId } from '../../stores/store.ts'
import type { Micros } from '../../time/micros.ts'
import { convertedBucket, fullBucket } from '../rights/cell.ts'
import type { RegionalLimit } from '../rights/limit.ts'
import type { LimitShares } from './limit-shares.ts'
import type { Share } from '../rights/share.ts'
import type { RegionStore, Rows } from '../rights/state.ts'

/** A key of which units were sent or received (it has rows), in a region whose store is in this process. */
export interface Entry {
  readonly id: StateId
  /**
   * The limit by which a call of the key was last decided, or its units were last sent or received. `whole` is the limit itself, `limit`
   * computes the shares of it.
   */
  whole: AnyLimit
  limit: RegionalLimit
  /** The limit by which the key's bucket is full if it has no state: the limit of its last state. */
  fullBy: RegionalLimit
  /** Whether the key may have another limit. */
  doubtful: boolean
  rows: Rows
  /** The number of the last change of the rows. */
  changed: number
  /** The key's share, and the object from which it was taken, which has the shares of the limit. */
  share: Share | undefined
  of: LimitShares | undefined
}

/** Whether a key of which units were sent or received was last decided by another limit than this one. */
export function isOther({ era }: RegionStore, { rows, fullBy, doubtful }: Entry, limit: RegionalLimit): boolean {
  return !doubtful && rows.era === era && fullBy.policy !== limit.policy
}

/**
 * The state of a key with rows. If none is stored, the bucket is full, and the state of a full bucket is returned. Undefined if the key's
 * limit is in doubt, or if its rows are of an earlier era.
 */
export function bucketOf(region: RegionStore, { rows, fullBy, doubtful }: Entry, state: unknown, now: Micros): BucketState | undefined {
  if (state !== undefined) return state as BucketState
  return doubtful || rows.era !== region.era ? undefined : fullBucket(region, rows, fullBy, now)
}

/**
 * For a key of which units were sent or received, and which has no stored state. So its bucket is full by the limit of its last use.
 * Returns the state of this bucket, converted to another limit.
 */
export function converted(region: RegionStore, entry: Entry, limit: RegionalLimit, now: Micros): BucketState {
  return convertedBucket(region, { bucket: bucketOf(region, entry, undefined, now), rows: entry.rows }, limit, now)
}
