import type { Micros } from '../../time/micros.ts'
import { type BucketState, bucketWith } from '../../algorithms/token-bucket.ts'
import { currentCell, type CurrentCell, explicitBucket, isOfRows, levelOf, resettle, unitsIn } from './cell.ts'
import { planIn, portion, type RegionalLimit } from './limit.ts'
import type { Region } from './roster.ts'
import type { Cell, RegionStore, Row, Rows } from './state.ts'
import { isUndivided, isWhole } from './undivided.ts'

/**
 * Sends units of a cell to a peer, with tokens (R3). Units and tokens on their way belong to nobody. Undefined if nothing may be sent: the
 * store is not open, the peer is not in the roster, the cell has fewer units, or it is not divided and has more, or what it sent and
 * received is of before it was divided, or was no longer divided.
 * @param units a whole number above 0
 * @param most the most micro-tokens to send; by default the units' part of the burst
 * @param doubt set if another limit may be that of the cell; see `inDoubt`
 */
export function give(
  store: RegionStore,
  cell: Cell,
  limit: RegionalLimit,
  to: Region,
  units: number,
  now: Micros,
  most: number = limit.whole.burst,
  doubt?: Micros,
): Cell | undefined {
  if (store.phase !== 'open' || to === store.region || !store.roster.weights.has(to)) return undefined
  const current = currentCell(store, cell, limit, now)
  if (units < 1 || units > current.units || (isWhole(store.roster, limit) && units !== current.units)) return undefined
  const bucket = explicitBucket(current, limit)
  const time = Math.max(current.time, bucket.seen)
  const level = Math.max(0, levelOf(bucket, current.units, time))
  const tokens = Math.min(level, portion(limit.whole.burst, units), most)
  const rows = current.rows ?? newRows(store, current.units, limit)
  if (!isOfRows(rows, store.roster, limit)) return undefined
  const row = rows.sent.get(to) ?? { units: 0, tokens: 0, policy: limit.policy, base: 0 }
  const base = row.policy === limit.policy ? row.base : row.tokens
  const next = { units: row.units + units, tokens: row.tokens + tokens, policy: limit.policy, base }
  return {
    bucket: resettle(limit, bucket, current.units, current.units - units, time, -tokens),
    rows: { ...rows, sent: new Map(rows.sent).set(to, next) },
    ...(doubt === undefined ? {} : { bucket: inDoubt(current, limit, doubt) }),
  }
}

/** What a peer may receive of a cell: all numbers of one instant. Undefined if nothing was sent in this era. */
export function rowTo(store: RegionStore, cell: Cell, to: Region): Row | undefined {
  const row = cell.rows?.era === store.era ? cell.rows.sent.get(to) : undefined
  if (row === undefined) return undefined
  return { ...row, from: store.region, run: store.run, to, toRun: store.bound.get(to), era: store.era }
}

/**
 * Receives what a row has that was not received before (R4). Undefined if nothing changes: the row is of another run or era, or the store is
 * not open, or the row is known, or it is of before the cell was divided, or was no longer divided. Tokens that were sent under another
 * limit are lost; the units are not.
 * @param doubt set if another limit may be that of the cell; see `inDoubt`. Then all tokens are lost
 */
export function merge(store: RegionStore, cell: Cell, limit: RegionalLimit, row: Row, now: Micros, doubt?: Micros): Cell | undefined {
  if (store.phase !== 'open' || row.era !== store.era) return undefined
  if (row.to !== store.region || row.toRun !== store.run || row.run !== store.bound.get(row.from)) return undefined
  const current = currentCell(store, cell, limit, now)
  const rows = current.rows ?? newRows(store, current.units, limit)
  if (!isOfRows(rows, store.roster, limit) || !isOfKind(store, limit, row)) return undefined
  const known = rows.received.get(row.from) ?? { units: 0, tokens: 0 }
  if (row.units <= known.units && row.tokens <= known.tokens) return undefined
  const units = Math.max(0, row.units - known.units)
  const tokens = row.policy === limit.policy ? Math.max(0, row.tokens - Math.max(known.tokens, row.base)) : 0
  const bucket = explicitBucket(current, limit)
  const time = Math.max(current.time, bucket.seen)
  const sums = { units: Math.max(known.units, row.units), tokens: Math.max(known.tokens, row.tokens) }
  return {
    bucket: resettle(limit, bucket, current.units, current.units + units, time, tokens),
    rows: { ...rows, received: new Map(rows.received).set(row.from, sums) },
    ...(doubt === undefined ? {} : { bucket: inDoubt(current, limit, doubt) }),
  }
}

/**
 * The state of a cell whose limit is in doubt: nothing is left of it, or its debt, and up to its next call it accrues as one unit. Another
 * limit might allow less than this one.
 * @param doubt how long such a state is needed: the fill time of any limit that may be that of the cell
 */
export function inDoubt({ bucket, units, time }: CurrentCell, limit: RegionalLimit, doubt: Micros): BucketState {
  if (bucket === undefined) return bucketWith(limit.share(1), 0n, time, doubt)
  const least = resettle(limit, bucket, units, 0, Math.max(time, bucket.seen))
  return { ...least, keepFor: Math.max(least.keepFor, doubt) }
}

/** The units that a cell has after it received a row, less those that it had. */
export function unitsReceived({ era }: RegionStore, before: Cell, after: Cell | undefined): number {
  if (after?.rows === undefined) return 0
  return unitsIn(after.rows) - (before.rows?.era === era ? unitsIn(before.rows) : after.rows.weight)
}

/** The rows of a cell that has not sent or received anything. */
export function newRows({ era, roster }: RegionStore, weight: number, limit: RegionalLimit): Rows {
  return { era, weight, sent: new Map(), received: new Map(), ...(isWhole(roster, limit) ? { whole: true } : {}) }
}

/** Whether a row was sent while the cell was divided, and it still is; or neither. All that a row has was sent under limits of one kind. */
function isOfKind({ roster }: RegionStore, limit: RegionalLimit, { policy }: Row): boolean {
  if (policy === limit.policy || limit.hash === undefined) return true
  const plan = planIn(policy)
  return plan !== undefined && isUndivided(roster, plan.burst) === isWhole(roster, limit)
}
