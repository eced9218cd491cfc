import { floorDiv, levelAt } from '../../algorithms/bucket-plan.ts'
import { type BucketState, bucketWith, filled, tokenBucketKernel } from '../../algorithms/token-bucket.ts'
import type { Micros } from '../../time/micros.ts'
import { isShare, type RegionalLimit } from './limit.ts'
import type { Roster } from './roster.ts'
import type { Cell, RegionStore, Rows, Shift } from './state.ts'
import { firstUnits, isWhole } from './undivided.ts'

/** A cell with all shifts of its store applied. */
export interface CurrentCell {
  /** Store time, never before the latest shift. */
  readonly time: Micros
  readonly units: number
  /** Undefined: full. */
  readonly bucket: BucketState | undefined
  /** Rows of this era. */
  readonly rows: Rows | undefined
}

/**
 * A cell as of now (R5). A shift changes the units of all cells of a store at once, so each cell applies it when it is next used, as of the
 * instant of the shift: settled at the call instead, a cell would accrue at its old share up to then.
 */
export function currentCell(store: RegionStore, cell: Cell, limit: RegionalLimit, now: Micros): CurrentCell {
  const last = lastShift(store)
  const time = Math.max(now, last.at)
  const units = unitsAfter(store, last, cell.rows, limit)
  const rows = cell.rows?.era === store.era ? cell.rows : undefined
  const bucket = cell.bucket === undefined ? absentBucket(store, limit, time) : shifted(store, cell.bucket, cell.rows, limit, units)
  return { time, units, bucket, rows }
}

/** The units that a region holds of a cell. Over all regions they are at most UNITS, at any instant. */
export function unitsOf(store: RegionStore, cell: Cell, limit: RegionalLimit): number {
  return unitsAfter(store, lastShift(store), cell.rows, limit)
}

/** The units of a cell without rows after each shift. */
export function unitsByShift(store: RegionStore, limit: RegionalLimit): readonly number[] {
  return store.shifts.map((shift) => weightAfter(store, shift, limit))
}

/** What a region holds of a key. */
export interface Held {
  readonly units: number
  /** Whether the cell is not divided (R8). */
  readonly whole: boolean
  /** What the key has sent and received; undefined if it has done neither in this era. */
  readonly rows: Rows | undefined
  /** Another text after each change of the rows. */
  readonly change: string
}

export function heldOf(store: RegionStore, limit: RegionalLimit, rows: Rows | undefined, change: number): Held {
  const units = unitsOf(store, { bucket: undefined, rows }, limit)
  const whole = isWhole(store.roster, limit)
  return rows?.era === store.era ? { units, whole, rows, change: `${store.run} ${change}` } : { units, whole, rows: undefined, change: '' }
}

/** Units to send; as a function, by what the region holds at the instant at which it sends them. 0 sends nothing. */
export type UnitsToGive = number | ((held: Held) => number)

export function unitsToGive(units: UnitsToGive, held: () => Held): number {
  return typeof units === 'number' ? units : units(held())
}

export function lastShift({ shifts }: RegionStore): Shift {
  return shifts.at(-1) as Shift
}

/**
 * Whether the state of a cell shows that it was last called by this limit: its share is of it. Of the share of one unit that is not known,
 * because states of cells whose limit is in doubt are written by it.
 */
export function isOf(store: RegionStore, { bucket, rows }: Cell, limit: RegionalLimit): boolean {
  if (bucket === undefined) return false
  return store.shifts.some((shift) => {
    const units = unitsAfter(store, shift, rows, limit)
    return units > 1 && isShare(limit, units, bucket.plan)
  })
}

/** The first instant from which a cell need not be stored. With rows it is Infinity, until a use after their era has dropped them. */
export function keepUntil({ bucket, rows }: Cell): Micros {
  if (rows !== undefined) return Infinity
  return bucket === undefined ? -Infinity : tokenBucketKernel.expiresAt(bucket.plan, bucket)
}

/** The state of a current cell, written out where it equals the initial state. Debt is kept, also where no units are held. */
export function explicitBucket({ bucket, units, time }: CurrentCell, limit: RegionalLimit): BucketState {
  if (bucket !== undefined) return bucket
  if (units === 0) return bucketWith(limit.share(1), 0n, time, 0)
  const plan = limit.share(units)
  return bucketWith(plan, BigInt(plan.burst) * BigInt(plan.m), time, 0)
}

/**
 * The state of a cell with rows that has none: full by the limit of its last use. By another limit it need not be full. The state expired
 * when it was full by the last one, and peers may have sent units of which they had used up the tokens by the other.
 */
export function fullBucket(store: RegionStore, rows: Rows, last: RegionalLimit, now: Micros): BucketState {
  return explicitBucket(currentCell(store, { bucket: undefined, rows }, last, now), last)
}

/** The state of a cell with rows by a limit, whatever its last use had. It has the tokens that it had, up to the burst. */
export function convertedBucket(store: RegionStore, cell: Cell, limit: RegionalLimit, now: Micros): BucketState {
  const current = currentCell(store, cell, limit, now)
  const bucket = explicitBucket(current, limit)
  return resettle(limit, bucket, current.units, current.units, Math.max(current.time, bucket.seen))
}

/** Whole micro-tokens of a bucket at a time from `seen` on; below 0 for a debt. Without units nothing accrues. */
export function levelOf(bucket: BucketState, units: number, time: Micros): number {
  return Number(floorDiv(partsOf(bucket, units, time), BigInt(bucket.plan.m)))
}

/**
 * Settles a bucket at the rate it had, adds tokens, and writes it for another share. What it has left is cut to the new burst, never raised
 * to it: a full bucket of a small share is not a full one of a larger share. The state is kept as long as law 7 needs.
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

/** The units of a cell after a shift. */
function unitsAfter(store: RegionStore, shift: Shift, rows: Rows | undefined, limit: RegionalLimit): number {
  const weight = weightAfter(store, shift, limit)
  if (rows === undefined || rows.era !== shift.era) return weight
  const units = unitsIn(rows)
  // Rows of before the limit was divided, or was no longer divided, count for no more than what the cell began with.
  if (!isOfRows(rows, shift.rosters?.[0], limit)) return Math.min(units, weight)
  return shift.cut ? Math.min(units, weight) : units
}

/** The units of a cell by its rows alone. */
export function unitsIn(rows: Rows): number {
  let units = rows.weight
  for (const row of rows.received.values()) units += row.units
  for (const row of rows.sent.values()) units -= row.units
  return units
}

/** Whether rows were made while the cell was divided, and the limit divides it in this roster too; or neither. */
export function isOfRows({ whole }: Rows, roster: Roster | undefined, limit: RegionalLimit): boolean {
  return roster !== undefined && (whole === true) === isWhole(roster, limit)
}

/** The units of a cell without rows after a shift. */
function weightAfter({ region }: RegionStore, shift: Shift, limit: RegionalLimit): number {
  if (limit.hash === undefined) return shift.units
  return shift.rosters === undefined ? 0 : Math.min(...shift.rosters.map((roster) => firstUnits(roster, region, limit)))
}

/** A stored bucket after the shifts since it was written. Keys have no number of the shift they know: they are found by their time. */
function shifted(store: RegionStore, bucket: BucketState, rows: Rows | undefined, limit: RegionalLimit, held: number): BucketState {
  const { shifts } = store
  if (lastShift(store).at < bucket.seen && isShare(limit, held, bucket.plan)) return bucket
  const units = shifts.map((shift) => unitsAfter(store, shift, rows, limit))
  let known = shifts.findLastIndex(({ at }) => at < bucket.seen)
  // If the clock stepped back, a bucket that does not know a shift may have a later time. Its share shows it.
  if (known > 0 && !isShare(limit, units[known] as number, bucket.plan)) {
    const older = units.findLastIndex((count, index) => index < known && isShare(limit, count, bucket.plan))
    if (older >= 0) known = older
  }
  // Of a cell that missed more shifts than are kept, only a debt is left.
  let state = known < 0 ? resettle(limit, bucket, 0, 0, bucket.seen) : bucket
  for (let next = known + 1; next < shifts.length; next += 1) {
    const time = Math.max((shifts[next] as Shift).at, state.seen)
    state = resettle(limit, state, known < 0 ? 0 : (units[known] as number), units[next] as number, time)
    known = next
  }
  return state
}

/**
 * What is left of a cell without a state; undefined if it is full. Such a cell was full at the last shift, or its state expired since. In
 * both cases it had at least the burst of its old share at the shift, less what the old share accrues from then to now. If the units were
 * raised less than a fill time before that shift, nothing is known, and it is taken as empty.
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
