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
  /** As of `give` and `merge`. */
  readonly doubt: Micros | undefined
}

/** What a program made of a cell: absent rows stay, null removes. Undefined changes nothing. */
export type Made =
  | {
      readonly bucket: BucketState | undefined
      readonly rows?: StoredRows | null
      /** Set if the state is only settled: it has at most what it had. */
      readonly settled?: true
    }
  | undefined

/** The run that wrote a record; undefined for none. */
export function recordRun({ record }: FoundRegion): Run | undefined {
  return recordRunOf(record)
}

export function recordRunOf(record: unknown): Run | undefined {
  return (record as { readonly run?: Run } | undefined)?.run
}

/**
 * What of a cell counts. Rows of another run are void. A state that is absent while there are rows of an earlier era was full at a share that
 * is not known any more: it is taken as empty at the latest shift. While there are rows of this era, it was full by the limit that they name,
 * which is that of its last use.
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

/** From when on a key without a state is full, and needs no settling. */
export function settledAt(region: RegionStore, limit: RegionalLimit, units: number): Micros {
  const { at } = lastShift(region)
  if (units === 0 || currentCell(region, { bucket: undefined, rows: undefined }, limit, at).bucket === undefined) return 0
  return at + limit.share(units).emptyBefore.micros + 1
}

export function writeOf({ bucket, rows }: NonNullable<Made>): RegionWrite {
  const stored = rows === undefined ? {} : { rows: rows === null ? null : encodeRows(rows) }
  if (bucket === undefined) return { bucket: null, ...stored }
  const { codec, expiresAt } = tokenBucketKernel
  // A debt is not repaid while no units are held.
  const expires = Math.max(expiresAt(bucket.plan, bucket), rows === undefined || rows === null ? 0 : bucket.seen + DEBT)
  return { bucket: codec.encodeState(bucket), expires, ...stored }
}

/**
 * A state that is absent, written out: full. Whether a state came and went since an absent one was read cannot be seen, and what it accrued
 * would count twice. So it is written, and read again, before a program changes it. If its limit is in doubt, it is written as empty.
 */
export function presentState(region: RegionStore, cell: Cell, { limit, doubt }: By, now: Micros): RegionWrite {
  const current = currentCell(region, cell, limit, now)
  const bucket = doubt === undefined ? explicitBucket(current, limit) : inDoubt({ ...current, bucket: undefined }, limit, doubt)
  const { codec, expiresAt } = tokenBucketKernel
  return { bucket: codec.encodeState(bucket), expires: Math.max(expiresAt(bucket.plan, bucket), now + PRESENT) }
}

/** How long an absent state is there at least once it was written out: a process that is slower begins again. */
const PRESENT: Micros = 1_000_000

/** How long the states of cells that were just sent or received are kept at least: a year. */
const DEBT: Micros = 31_536_000_000_000

/** Whether a state is as it was found. */
export function isSame({ cell }: FoundRegion, bucket: BucketState | undefined): boolean {
  const numbers = bucket === undefined ? undefined : tokenBucketKernel.codec.encodeState(bucket)
  return String(cell.bucket) === String(numbers)
}
