import type { AnyLimit } from '../../algorithms/algorithm.ts'
import type { BucketState } from '../../algorithms/token-bucket.ts'
import type { StateId } from '../../stores/store.ts'
import type { Micros } from '../../time/micros.ts'
import { convertedBucket, fullBucket } from '../rights/cell.ts'
import type { RegionalLimit } from '../rights/limit.ts'
import type { LimitShares } from './limit-shares.ts'
import type { Share } from '../rights/share.ts'
import type { RegionStore, Rows } from '../rights/state.ts'

/** A key of which units were sent or received (its rows). */
export interface Entry {
  readonly id: StateId
  /** The limit of the latest call or transfer of units. */
  whole: AnyLimit
  limit: RegionalLimit
  /** The limit under which the bucket is full if it has no state. */
  fullBy: RegionalLimit
  /** Whether the key's last call may have had another limit. */
  doubtful: boolean
  rows: Rows
  /** The number of the last change of the rows. */
  changed: number
  /** `share` was taken from `of`. */
  share: Share | undefined
  of: LimitShares | undefined
}

/** If the key has no state: whether it is full under a known limit other than this one. */
export function isOther({ era }: RegionStore, { rows, fullBy, doubtful }: Entry, limit: RegionalLimit): boolean {
  return !doubtful && rows.era === era && fullBy.policy !== limit.policy
}

/**
 * The key's stored state, or a full bucket of its last limit. Without a state, undefined if that limit is not known for sure, or if the
 * weights of the regions have changed since the rows (records of units sent and received) were written.
 */
export function bucketOf(region: RegionStore, { rows, fullBy, doubtful }: Entry, state: unknown, now: Micros): BucketState | undefined {
  if (state !== undefined) return state as BucketState
  return doubtful || rows.era !== region.era ? undefined : fullBucket(region, rows, fullBy, now)
}

/** Converts the full bucket of a key without a stored state to another limit. */
export function converted(region: RegionStore, entry: Entry, limit: RegionalLimit, now: Micros): BucketState {
  return convertedBucket(region, { bucket: bucketOf(region, entry, undefined, now), rows: entry.rows }, limit, now)
}
