import { floorDiv, levelAt } from '../../algorithms/bucket-plan.ts'
import { type BucketState, bucketWith, filled, tokenBucketKernel } from '../../algorithms/token-bucket.ts'
import type { Micros } from '../../time/micros.ts'
import { isShare, type RegionalLimit } from './limit.ts'
import type { Roster } from './roster.ts'
import type { Cell, RegionStore, Rows, Shift } from './state.ts'
import { firstUnits, isWhole } from './undivided.ts'

/** A cell (one key of one limit) after all shifts: the closes and opens of eras, times of constant weights. */
export interface CurrentCell {
  /** The store time for which the other fields hold. */
  readonly time: Micros
  readonly units: number
  /** Undefined: the bucket is full. */
  readonly bucket: BucketState | undefined
  /** Only rows of this era. */
  readonly rows: Rows | undefined
}

/**
 * Applies shifts (closes and opens of eras) to a cell at its next use. Tokens until the instant of a shift accrue by the share before it,
 * later tokens by the share after it.
 */
export function currentCell(store: RegionStore, cell: Cell, limit: RegionalLimit, now: Micros): CurrentCell {
  const last = lastShift(store)
  const time = Math.max(now, last.at)
  const units = unitsAfter(store, last, cell.rows, limit)
  const rows = cell.rows?.era === store.era ? cell.rows : undefined
  const bucket = cell.bucket === undefined ? absentBucket(store, limit, time) : shifted(store, cell.bucket, cell.rows, limit, units)
  return { time, units, bucket, rows }
}

/** The region's units of a key. At every instant, all regions together hold at most UNITS of each key. */
export function unitsOf(store: RegionStore, cell: Cell, limit: RegionalLimit): number {
  return unitsAfter(store, lastShift(store), cell.rows, limit)
}

/** A key's units after each shift (start or end of a time of constant weights), if none were sent or received. */
export function unitsByShift(store: RegionStore, limit: RegionalLimit): readonly number[] {
  return store.shifts.map((shift) => weightAfter(store, shift, limit))
}

export interface Held {
  readonly units: number
  /** Whether one region at a time holds all units of the key. */
  readonly whole: boolean
  /** Undefined if nothing was sent or received in this era. */
  readonly rows: Rows | undefined
  /** Different after each transfer of units; empty if there was none in this era. */
  readonly change: string
}

export function heldOf(store: RegionStore, limit: RegionalLimit, rows: Rows | undefined, change: number): Held {
  const units = unitsOf(store, { bucket: undefined, rows }, limit)
  const whole = isWhole(store.roster, limit)
  return rows?.era === store.era ? { units, whole, rows, change: `${store.run} ${change}` } : { units, whole, rows: undefined, change: '' }
}

/** A number, or a function of what the region holds at the instant of sending. 0 sends nothing. */
export type UnitsToGive = number | ((held: Held) => number)

export function unitsToGive(units: UnitsToGive, held: () => Held): number {
  return typeof units === 'number' ? units : units(held())
}

export function lastShift({ shifts }: RegionStore): Shift {
  return shifts.at(-1) as Shift
}

/**
 * Whether the plan in the state shows that the cell's last call had this limit. A plan of one unit shows nothing: it is also written when
 * that limit is unknown (`inDoubt`).
 */
export function isOf(store: RegionStore, { bucket, rows }: Cell, limit: RegionalLimit): boolean {
  if (bucket === undefined) return false
  return store.shifts.some((shift) => {
    const units = unitsAfter(store, shift, rows, limit)
    return units > 1 && isShare(limit, units, bucket.plan)
  })
}

/** The first instant from which a cell need not be stored. Infinity if units of it were sent or received. */
export function keepUntil({ bucket, rows }: Cell): Micros {
  if (rows !== undefined) return Infinity
  return bucket === undefined ? -Infinity : tokenBucketKernel.expiresAt(bucket.plan, bucket)
}

/**
 * The stored bucket, which may be in debt (below empty). Without one, a full bucket of the share, or an empty bucket if the region holds no
 * units.
 */
export function explicitBucket({ bucket, units, time }: CurrentCell, limit: RegionalLimit): BucketState {
  if (bucket !== undefined) return bucket
  if (units === 0) return bucketWith(limit.share(1), 0n, time, 0)
  const plan = limit.share(units)
  return bucketWith(plan, BigInt(plan.burst) * BigInt(plan.m), time, 0)
}

/** The bucket of a key without a stored state: full under `last`, the limit of the key's last call, but maybe not under another limit. */
export function fullBucket(store: RegionStore, rows: Rows, last: RegionalLimit, now: Micros): BucketState {
  return explicitBucket(currentCell(store, { bucket: undefined, rows }, last, now), last)
}

/** Converts a key's state to this limit. Its tokens stay, up to the burst of the new share. */
export function convertedBucket(store: RegionStore, cell: Cell, limit: RegionalLimit, now: Micros): BucketState {
  const current = currentCell(store, cell, limit, now)
  const bucket = explicitBucket(current, limit)
  return resettle(limit, bucket, current.units, current.units, Math.max(current.time, bucket.seen))
}

/** Whole micro-tokens at a time not before `seen`; below 0 for a debt. Without units, nothing is refilled. */
export function levelOf(bucket: BucketState, units: number, time: Micros): number {
  return Number(floorDiv(partsOf(bucket, units, time), BigInt(bucket.plan.m)))
}

/**
 * Refills a bucket at its old rate, adds tokens, and converts it to another share. A full bucket keeps its number of tokens, so under a
 * larger share it is not full.
 * @param before units of the old share
 * @param after units of the new share
 * @param time not before `seen`
 * @param tokens micro-tokens to add, or below 0 to take
 */
export function resettle(
  limit: RegionalLimit,
  bucket: BucketState,
  before: number,
  after: number,
  time: Micros,
  tokens: number = 0,
): BucketState {
  const old = bucket.plan
  const plan = limit.share(Math.max(after, 1))
  const level = partsOf(bucket, before, time) + BigInt(tokens) * BigInt(old.m)
  const parts = floorDiv(level * BigInt(plan.m), BigInt(old.m))
  const keepFor = Math.max(bucket.keepFor, old.emptyBefore.micros)
  return bucketWith(plan, after === 0 && parts > 0n ? 0n : parts, time, keepFor)
}

/** The level in m-ths of a micro-token. */
function partsOf(bucket: BucketState, units: number, time: Micros): bigint {
  const at = units === 0 ? bucket.seen : time
  return levelAt(bucket.plan, filled(bucket.plan, bucket, at), at)
}

/** Units held right after a shift: the open or close of an era, in which the regions' weights stay the same. */
function unitsAfter(store: RegionStore, shift: Shift, rows: Rows | undefined, limit: RegionalLimit): number {
  const weight = weightAfter(store, shift, limit)
  if (rows === undefined || rows.era !== shift.era) return weight
  const units = unitsIn(rows)
  // Rows may be of a limit that was divided among regions, while the present limit is not, or the reverse. They then give the region no
  // more units than it has without rows.
  if (!isOfRows(rows, shift.rosters?.[0], limit)) return Math.min(units, weight)
  return shift.cut ? Math.min(units, weight) : units
}

/** Weight, plus what was received, less what was sent. */
export function unitsIn(rows: Rows): number {
  let units = rows.weight
  for (const row of rows.received.values()) units += row.units
  for (const row of rows.sent.values()) units -= row.units
  return units
}

/** Whether rows and roster (regions and weights of an era) agree on whether the key is divided among regions. */
export function isOfRows({ whole }: Rows, roster: Roster | undefined, limit: RegionalLimit): boolean {
  return roster !== undefined && (whole === true) === isWhole(roster, limit)
}

/** As in `unitsByShift`, for one shift. */
function weightAfter({ region }: RegionStore, shift: Shift, limit: RegionalLimit): number {
  if (limit.hash === undefined) return shift.units
  return shift.rosters === undefined ? 0 : Math.min(...shift.rosters.map((roster) => firstUnits(roster, region, limit)))
}

/** Converts a bucket to the region's share after each shift (close or open of an era, a time of constant weights) since `seen`. */
function shifted(store: RegionStore, bucket: BucketState, rows: Rows | undefined, limit: RegionalLimit, held: number): BucketState {
  const { shifts } = store
  if (lastShift(store).at < bucket.seen && isShare(limit, held, bucket.plan)) return bucket
  const units = shifts.map((shift) => unitsAfter(store, shift, rows, limit))
  let known = shifts.findLastIndex(({ at }) => at < bucket.seen)
  // If the clock stepped back, a bucket that was written before a shift may have a later time than the shift. Its share then shows that the
  // shift is not applied to it yet.
  if (known > 0 && !isShare(limit, units[known] as number, bucket.plan)) {
    const older = units.findLastIndex((count, index) => index < known && isShare(limit, count, bucket.plan))
    if (older >= 0) known = older
  }
  // Only the latest `MAX_SHIFTS` shifts are kept. A key last used before all of these loses its tokens, but keeps its debt.
  let state = known < 0 ? resettle(limit, bucket, 0, 0, bucket.seen) : bucket
  for (let next = known + 1; next < shifts.length; next += 1) {
    const time = Math.max((shifts[next] as Shift).at, state.seen)
    state = resettle(limit, state, known < 0 ? 0 : (units[known] as number), units[next] as number, time)
    known = next
  }
  return state
}

/**
 * The bucket of a key without a state; undefined if it is full. Units (parts of the bucket) that the last shift (change of the units of all
 * keys) added count as empty then, and earlier units as full. All count as empty if a shift less than a fill time before had added some.
 */
function absentBucket(store: RegionStore, limit: RegionalLimit, time: Micros): BucketState | undefined {
  const { shifts } = store
  const last = lastShift(store)
  const now = weightAfter(store, last, limit)
  if (now === 0) return undefined
  const plan = limit.share(now)
  const fill = plan.emptyBefore.micros
  const elapsed = time - last.at
  if (elapsed >= fill) return undefined
  const weights = unitsByShift(store, limit)
  const before = shifts.length - 2
  const raised = shifts[weights.findLastIndex((weight, index) => index <= before && weight > (weights[index - 1] ?? -1))]
  const wasFull = raised !== undefined && last.at - raised.at >= fill
  const base = wasFull ? Math.min(weights[before] as number, now) : 0
  if (base === now) return undefined
  const grown = limit.share(now - base)
  const had = base === 0 ? 0n : BigInt(limit.share(base).burst) * BigInt(plan.m)
  const level = had + floorDiv(BigInt(elapsed) * BigInt(grown.n) * BigInt(plan.m), BigInt(grown.m))
  return bucketWith(plan, level, time, 0)
}
