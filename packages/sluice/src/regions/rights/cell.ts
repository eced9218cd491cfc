import { floorDiv, levelAt } from '../../algorithms/bucket-plan.ts'
import { type BucketState, bucketWith, filled, tokenBucketKernel } from '../../algorithms/token-bucket.ts'
import type { Micros } from '../../time/micros.ts'
import { isShare, type RegionalLimit } from './limit.ts'
import type { Roster } from './roster.ts'
import type { Cell, RegionStore, Rows, Shift } from './state.ts'
import { firstUnits, isWhole } from './undivided.ts'

/** A cell (one key of one limit) to which all shifts of its store (closes and opens of eras) have been applied. */
export interface CurrentCell {
  /** The store time for which the other fields hold; never before the latest shift (close or open of an era). */
  readonly time: Micros
  readonly units: number
  /** Undefined: the bucket is full. */
  readonly bucket: BucketState | undefined
  /** The cell's rows, if they are of this era. */
  readonly rows: Rows | undefined
}

/**
 * Computes a cell as of now. A shift (close or open of an era) changes the units of all cells of a store at one instant. This function
 * applies it to a cell when the cell is next used, as if it had been applied at that instant. If the shift took effect only at that use,
 * the cell would accrue tokens at its old share up to then.
 */
export function currentCell(store: RegionStore, cell: Cell, limit: RegionalLimit, now: Micros): CurrentCell {
  const last = lastShift(store)
  const time = Math.max(now, last.at)
  const units = unitsAfter(store, last, cell.rows, limit)
  const rows = cell.rows?.era === store.era ? cell.rows : undefined
  const bucket = cell.bucket === undefined ? absentBucket(store, limit, time) : shifted(store, cell.bucket, cell.rows, limit, units)
  return { time, units, bucket, rows }
}

/** The units that a region holds of a cell (one key of one limit). At every instant, all regions together hold at most UNITS of a cell. */
export function unitsOf(store: RegionStore, cell: Cell, limit: RegionalLimit): number {
  return unitsAfter(store, lastShift(store), cell.rows, limit)
}

/** For each shift (close or open of an era), the units of a cell after it, if none were sent or received. */
export function unitsByShift(store: RegionStore, limit: RegionalLimit): readonly number[] {
  return store.shifts.map((shift) => weightAfter(store, shift, limit))
}

/** What a region holds of a key. */
export interface Held {
  readonly units: number
  /** Whether the key is not divided among regions: one region at a time holds all units. */
  readonly whole: boolean
  /** What the key has sent and received; undefined if it has done neither in this era. */
  readonly rows: Rows | undefined
  /** A text that is different after each sending or receiving of units of the key. Empty if there was none in this era. */
  readonly change: string
}

export function heldOf(store: RegionStore, limit: RegionalLimit, rows: Rows | undefined, change: number): Held {
  const units = unitsOf(store, { bucket: undefined, rows }, limit)
  const whole = isWhole(store.roster, limit)
  return rows?.era === store.era ? { units, whole, rows, change: `${store.run} ${change}` } : { units, whole, rows: undefined, change: '' }
}

/** How many units to send, or a function that computes it from what the region holds at the instant of sending. 0 sends nothing. */
export type UnitsToGive = number | ((held: Held) => number)

export function unitsToGive(units: UnitsToGive, held: () => Held): number {
  return typeof units === 'number' ? units : units(held())
}

export function lastShift({ shifts }: RegionStore): Shift {
  return shifts.at(-1) as Shift
}

/**
 * Whether the state of a cell (one key of one limit) shows that the cell was last called by this limit. It does if it has the plan of one
 * of the limit's shares. A share of one unit shows nothing, because if the limit of a cell is in doubt, its state is also written with that
 * share.
 */
export function isOf(store: RegionStore, { bucket, rows }: Cell, limit: RegionalLimit): boolean {
  if (bucket === undefined) return false
  return store.shifts.some((shift) => {
    const units = unitsAfter(store, shift, rows, limit)
    return units > 1 && isShare(limit, units, bucket.plan)
  })
}

/**
 * The first instant from which a cell (one key of one limit) need not be stored. Infinity if units of it were sent or received. What was
 * sent and received is dropped at the first use after that era.
 */
export function keepUntil({ bucket, rows }: Cell): Micros {
  if (rows !== undefined) return Infinity
  return bucket === undefined ? -Infinity : tokenBucketKernel.expiresAt(bucket.plan, bucket)
}

/**
 * The state of a cell (one key of one limit) that is up to date with the present era. A cell without a state is full: then the state of a
 * full bucket is returned. A level below empty (a debt) is kept, also if the region holds no units of the cell.
 */
export function explicitBucket({ bucket, units, time }: CurrentCell, limit: RegionalLimit): BucketState {
  if (bucket !== undefined) return bucket
  if (units === 0) return bucketWith(limit.share(1), 0n, time, 0)
  const plan = limit.share(units)
  return bucketWith(plan, BigInt(plan.burst) * BigInt(plan.m), time, 0)
}

/**
 * The state of a key that has no stored state, and of which units were sent or received. Its bucket is full by the limit of its last use
 * (`last`), because states expire when they are full. By another limit the bucket need not be full: peers may have sent units whose tokens
 * they had used up by that limit.
 */
export function fullBucket(store: RegionStore, rows: Rows, last: RegionalLimit, now: Micros): BucketState {
  return explicitBucket(currentCell(store, { bucket: undefined, rows }, last, now), last)
}

/**
 * The state of a key of which units were sent or received, converted to this limit. It keeps the tokens that the key has by the limit of
 * its last use, up to the burst of the share of this limit.
 */
export function convertedBucket(store: RegionStore, cell: Cell, limit: RegionalLimit, now: Micros): BucketState {
  const current = currentCell(store, cell, limit, now)
  const bucket = explicitBucket(current, limit)
  return resettle(limit, bucket, current.units, current.units, Math.max(current.time, bucket.seen))
}

/** Whole micro-tokens in a bucket at a time not before `seen`; below 0 for a debt. If the region holds no units, nothing is refilled. */
export function levelOf(bucket: BucketState, units: number, time: Micros): number {
  return Number(floorDiv(partsOf(bucket, units, time), BigInt(bucket.plan.m)))
}

/**
 * Refills a bucket up to now at the rate that it had, adds tokens, and converts it to another share. Its tokens are capped at the new
 * burst. They are never raised to the new burst: a full bucket of a small share has fewer tokens than a full one of a larger share. The
 * state is kept as long as law 7 requires.
 * @param before units of the share that the bucket has
 * @param after units of the share for which it is written
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

/** The units that a region holds of a key right after a shift (the close or the open of an era). */
function unitsAfter(store: RegionStore, shift: Shift, rows: Rows | undefined, limit: RegionalLimit): number {
  const weight = weightAfter(store, shift, limit)
  if (rows === undefined || rows.era !== shift.era) return weight
  const units = unitsIn(rows)
  // Rows say what was sent and received of a key. They may have been made while the limit was divided among regions, and it is not divided
  // now, or the reverse. Then the region holds no more units than without these rows.
  if (!isOfRows(rows, shift.rosters?.[0], limit)) return Math.min(units, weight)
  return shift.cut ? Math.min(units, weight) : units
}

/** The units that a region holds of a key by its rows: its weight, plus what it received, less what it sent. */
export function unitsIn(rows: Rows): number {
  let units = rows.weight
  for (const row of rows.received.values()) units += row.units
  for (const row of rows.sent.values()) units -= row.units
  return units
}

/**
 * Whether the rows of a key fit an era. Either the key was divided among regions when the rows were made, and is divided in that era. Or it
 * was undivided when they were made, and is undivided in that era.
 */
export function isOfRows({ whole }: Rows, roster: Roster | undefined, limit: RegionalLimit): boolean {
  return roster !== undefined && (whole === true) === isWhole(roster, limit)
}

/** A shift is the close or the open of an era. The units that a region holds of a key after it, if none were sent or received. */
function weightAfter({ region }: RegionStore, shift: Shift, limit: RegionalLimit): number {
  if (limit.hash === undefined) return shift.units
  return shift.rosters === undefined ? 0 : Math.min(...shift.rosters.map((roster) => firstUnits(roster, region, limit)))
}

/**
 * A stored bucket, with the shifts applied (closes and opens of eras) that happened after it was written. The state does not say which
 * shift was applied last. So the time of each shift is compared with `seen`, the time at which the state was written.
 */
function shifted(store: RegionStore, bucket: BucketState, rows: Rows | undefined, limit: RegionalLimit, held: number): BucketState {
  const { shifts } = store
  if (lastShift(store).at < bucket.seen && isShare(limit, held, bucket.plan)) return bucket
  const units = shifts.map((shift) => unitsAfter(store, shift, rows, limit))
  let known = shifts.findLastIndex(({ at }) => at < bucket.seen)
  // A shift is the close or the open of an era. If the clock stepped back, a bucket that was written before a shift may have a later time
  // than the shift. Then it still has the share from before that shift.
  if (known > 0 && !isShare(limit, units[known] as number, bucket.plan)) {
    const older = units.findLastIndex((count, index) => index < known && isShare(limit, count, bucket.plan))
    if (older >= 0) known = older
  }
  // The latest `MAX_SHIFTS` shifts (closes and opens of eras) are kept. If a key missed more than these, its tokens are dropped, and only a
  // debt stays.
  let state = known < 0 ? resettle(limit, bucket, 0, 0, bucket.seen) : bucket
  for (let next = known + 1; next < shifts.length; next += 1) {
    const time = Math.max((shifts[next] as Shift).at, state.seen)
    state = resettle(limit, state, known < 0 ? 0 : (units[known] as number), units[next] as number, time)
    known = next
  }
  return state
}

/**
 * The bucket of a cell that has no state; undefined if it is full. Such a cell was full at the last shift (close or open of an era), or its
 * state has expired since. In both cases it had at least a number of tokens at the shift: the burst of its old share, less what the old
 * share refills from then to now. A fill time is the time in which an empty bucket becomes full. If an earlier shift raised the units less
 * than a fill time before the last one, the cell counts as empty at the last shift.
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
