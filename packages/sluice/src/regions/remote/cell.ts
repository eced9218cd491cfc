import { type BucketState, bucketWith, tokenBucketKernel } from '../../algorithms/token-bucket.ts'
import type { FoundRegion, RegionWrite } from '../../stores/region-port.ts'
import type { Micros } from '../../time/micros.ts'
import { currentCell, explicitBucket, fullBucket, lastShift, unitsOf } from '../rights/cell.ts'
import { keyedLimit, limitNamed, type RegionalLimit } from '../rights/limit.ts'
import { encodeRows, isOfRun, type StoredRows } from './rows.ts'
import type { Cell, RegionStore, Run } from '../rights/state.ts'
import { inDoubt } from '../rights/transfer.ts'

/** The limit by which a cell is changed. */
export interface By {
  readonly limit: RegionalLimit
  /** The parameter `doubt` of `give` and `merge`. */
  readonly doubt: Micros | undefined
}

/**
 * What is to be written for a cell (one key of one limit). Without `rows`, the cell's rows (what was sent and received) stay as they are;
 * null removes them. Undefined: nothing is written.
 */
export type Made =
  | {
      readonly bucket: BucketState | undefined
      readonly rows?: StoredRows | null
      /** Set if the state was only converted to the weights of the present era, and no tokens were added to it. */
      readonly settled?: true
    }
  | undefined

/** The run (one life of the server) in which a region's record was written; undefined if there is no record. */
export function recordRun({ record }: FoundRegion): Run | undefined {
  return recordRunOf(record)
}

export function recordRunOf(record: unknown): Run | undefined {
  return (record as { readonly run?: Run } | undefined)?.run
}

/**
 * The state and the rows of a cell, as far as they count. Rows that another run of the server wrote do not count. If there is no state, but
 * rows of an earlier era, the bucket was full at a share that is not known any more: it counts as empty at the latest shift (close or open
 * of an era). If there is no state, but rows of this era, the bucket is full. It is full by the limit that the rows name, the limit of its
 * last use.
 */
export function cellOf({ cell, now }: FoundRegion, region: RegionStore, stored: StoredRows | undefined, limit: RegionalLimit): Cell {
  const rows = stored !== undefined && isOfRun(stored, region) ? stored.rows : undefined
  const bucket = bucketIn({ cell })
  if (bucket !== undefined || stored === undefined) return { bucket, rows }
  if (rows?.era === region.era) {
    const named = stored.policy === limit.policy ? undefined : limitNamed(stored.policy)
    const last = named && limit.hash !== undefined ? keyedLimit(named, limit.hash) : named
    return { bucket: last && fullBucket(region, rows, last, now), rows }
  }
  const { at } = lastShift(region)
  const units = unitsOf(region, { bucket, rows: undefined }, limit)
  return { bucket: bucketWith(limit.share(Math.max(units, 1)), 0n, at, 0), rows: undefined }
}

export function bucketIn({ cell }: Pick<FoundRegion, 'cell'>): BucketState | undefined {
  return cell.bucket === undefined ? undefined : tokenBucketKernel.codec.decodeState(cell.bucket)
}

/** Store time from which on a key without a state is full at its present share, whatever happened in earlier eras. */
export function settledAt(region: RegionStore, limit: RegionalLimit, units: number): Micros {
  const { at } = lastShift(region)
  if (units === 0 || currentCell(region, { bucket: undefined, rows: undefined }, limit, at).bucket === undefined) return 0
  return at + limit.share(units).emptyBefore.micros + 1
}

export function writeOf({ bucket, rows }: NonNullable<Made>): RegionWrite {
  const stored = rows === undefined ? {} : { rows: rows === null ? null : encodeRows(rows) }
  if (bucket === undefined) return { bucket: null, ...stored }
  const { codec, expiresAt } = tokenBucketKernel
  // If units of the key were sent, its bucket may be below empty, and not be refilled, because the region holds no units. So the bucket is
  // kept longer.
  const expires = Math.max(expiresAt(bucket.plan, bucket), rows === undefined || rows === null ? 0 : bucket.seen + DEBT)
  return { bucket: codec.encodeState(bucket), expires, ...stored }
}

/**
 * The state to write for a cell (one key of one limit) that has none: a full bucket, or an empty one if the limit of the cell is in doubt.
 * It is written, and the cell is read again, before units of the cell are sent or received. Otherwise a state might be made and expire
 * between the reading and the writing, and its refilled tokens would count twice.
 */
export function presentState(region: RegionStore, cell: Cell, { limit, doubt }: By, now: Micros): RegionWrite {
  const current = currentCell(region, cell, limit, now)
  const bucket = doubt === undefined ? explicitBucket(current, limit) : inDoubt({ ...current, bucket: undefined }, limit, doubt)
  const { codec, expiresAt } = tokenBucketKernel
  return { bucket: codec.encodeState(bucket), expires: Math.max(expiresAt(bucket.plan, bucket), now + PRESENT) }
}

/**
 * A state from `presentState` is kept for at least this many microseconds. If a process takes longer until it changes that state, it begins
 * again.
 */
const PRESENT: Micros = 1_000_000

/**
 * After units of a key were sent or received, its state is kept for at least this many microseconds (a year). The state may be below empty:
 * see `writeOf`.
 */
const DEBT: Micros = 31_536_000_000_000

/** Whether a state equals the one that was read. */
export function isSame({ cell }: FoundRegion, bucket: BucketState | undefined): boolean {
  const numbers = bucket === undefined ? undefined : tokenBucketKernel.codec.encodeState(bucket)
  return String(cell.bucket) === String(numbers)
}
