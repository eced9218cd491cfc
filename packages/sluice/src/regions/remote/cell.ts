import { type BucketState, bucketWith, tokenBucketKernel } from '../../algorithms/token-bucket.ts'
import type { FoundRegion, RegionWrite } from '../../stores/region-port.ts'
import type { Micros } from '../../time/micros.ts'
import { currentCell, explicitBucket, fullBucket, lastShift, unitsOf } from '../rights/cell.ts'
import { keyedLimit, limitNamed, type RegionalLimit } from '../rights/limit.ts'
import { encodeRows, isOfRun, type StoredRows } from './rows.ts'
import type { Cell, RegionStore, Run } from '../rights/state.ts'
import { inDoubt } from '../rights/transfer.ts'

export interface By {
  readonly limit: RegionalLimit
  /** The parameter `doubt` of `give` and `merge`. */
  readonly doubt: Micros | undefined
}

/** What to write for a key; undefined: nothing. Without `rows`, the key's sent and received sums stay; null removes them. */
export type Made =
  | {
      readonly bucket: BucketState | undefined
      readonly rows?: StoredRows | null
      /** Set if the state was only converted to the region's present share: nothing was sent, received or charged. */
      readonly settled?: true
    }
  | undefined

/** The run (server lifetime) that wrote the region's record; undefined without a record. */
export function recordRun({ record }: FoundRegion): Run | undefined {
  return recordRunOf(record)
}

export function recordRunOf(record: unknown): Run | undefined {
  return (record as { readonly run?: Run } | undefined)?.run
}

/**
 * The state and rows (what was sent and received) of a key, without rows of another run (server lifetime). If a key has rows but no state,
 * its bucket is full under the limit that the rows name. If the rows are of another run or an earlier era (time of constant weights), the
 * bucket instead counts as empty when an era last closed or opened.
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

/** Store time from which a key without a state is surely full at its present share. */
export function settledAt(region: RegionStore, limit: RegionalLimit, units: number): Micros {
  const { at } = lastShift(region)
  if (units === 0 || currentCell(region, { bucket: undefined, rows: undefined }, limit, at).bucket === undefined) return 0
  return at + limit.share(units).emptyBefore.micros + 1
}

export function writeOf({ bucket, rows }: NonNullable<Made>): RegionWrite {
  const stored = rows === undefined ? {} : { rows: rows === null ? null : encodeRows(rows) }
  if (bucket === undefined) return { bucket: null, ...stored }
  const { codec, expiresAt } = tokenBucketKernel
  const expires = Math.max(expiresAt(bucket.plan, bucket), rows === undefined || rows === null ? 0 : bucket.seen + DEBT)
  return { bucket: codec.encodeState(bucket), expires, ...stored }
}

/**
 * The state to write for a key that has none, before its units or tokens change. It is full, or empty if the key's limit is unknown.
 * Without it, a call after the read could make a state, spend tokens, and let the state expire: the later write would not notice.
 */
export function presentState(region: RegionStore, cell: Cell, { limit, doubt }: By, now: Micros): RegionWrite {
  const current = currentCell(region, cell, limit, now)
  const bucket = doubt === undefined ? explicitBucket(current, limit) : inDoubt({ ...current, bucket: undefined }, limit, doubt)
  const { codec, expiresAt } = tokenBucketKernel
  return { bucket: codec.encodeState(bucket), expires: Math.max(expiresAt(bucket.plan, bucket), now + PRESENT) }
}

/** Microseconds for which a state from `presentState` is kept at least. If it is gone at the next write, `rewriteRemote` starts again. */
const PRESENT: Micros = 1_000_000

/**
 * Microseconds (a year) for which a bucket is kept after units (parts of limits) were sent or received. The bucket may be below empty, and
 * without units it does not refill.
 */
const DEBT: Micros = 31_536_000_000_000

export function isSame({ cell }: FoundRegion, bucket: BucketState | undefined): boolean {
  const numbers = bucket === undefined ? undefined : tokenBucketKernel.codec.encodeState(bucket)
  return String(cell.bucket) === String(numbers)
}
