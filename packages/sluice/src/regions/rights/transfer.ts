import type { Micros } from '../../time/micros.ts'
import { type BucketState, bucketWith } from '../../algorithms/token-bucket.ts'
import { currentCell, type CurrentCell, explicitBucket, isOfRows, levelOf, resettle, unitsIn } from './cell.ts'
import { planIn, portion, type RegionalLimit } from './limit.ts'
import { isGone, type Region } from './roster.ts'
import type { Cell, RegionStore, Row, Rows } from './state.ts'
import { isUndivided, isWhole } from './undivided.ts'

/**
 * Sends units of a cell (one key of one limit) to a peer, with a part of the cell's tokens. Until the peer reads them, these units and
 * tokens belong to no region. Undefined if the units may not be sent now.
 * @param units a whole number above 0
 * @param most the most micro-tokens to send; at most the units' part of the burst is sent
 * @param doubt set if the last call of the key may have had another limit; see `inDoubt`
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

/** The row for a peer: what was sent to it of a key under the present weights. Undefined if nothing was. */
export function rowTo(store: RegionStore, cell: Cell, to: Region): Row | undefined {
  const row = cell.rows?.era === store.era ? cell.rows.sent.get(to) : undefined
  if (row === undefined) return undefined
  return { ...row, from: store.region, run: store.run, to, toRun: store.bound.get(to), era: store.era }
}

/**
 * Adds the units (thousandths of the right to a key's limit) and tokens of a peer's row that were not received before. Undefined if there
 * is nothing new, or nothing may be added. Tokens that were sent under another limit are lost; units are not.
 * @param doubt set if the last call of the key may have had another limit. Then the bucket is emptied (`inDoubt`)
 */
export function merge(store: RegionStore, cell: Cell, limit: RegionalLimit, row: Row, now: Micros, doubt?: Micros): Cell | undefined {
  if (store.phase !== 'open' || row.era !== store.era) return undefined
  if (row.to !== store.region || row.toRun !== store.run || row.run !== store.bound.get(row.from)) return undefined
  if (isGone(store.roster, row.from, row.run)) return undefined
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
 * The bucket of a cell whose last limit is unknown. It is empty, or keeps its debt. Until the next call it refills only at the rate of one
 * unit, because the unknown limit may be smaller than `limit`.
 * @param doubt microseconds for which the state is kept: the longest fill time of the limits that the cell may have
 */
export function inDoubt({ bucket, units, time }: CurrentCell, limit: RegionalLimit, doubt: Micros): BucketState {
  if (bucket === undefined) return bucketWith(limit.share(1), 0n, time, doubt)
  const least = resettle(limit, bucket, units, 0, Math.max(time, bucket.seen))
  return { ...least, keepFor: Math.max(least.keepFor, doubt) }
}

/** Units gained by receiving a row. */
export function unitsReceived({ era }: RegionStore, before: Cell, after: Cell | undefined): number {
  if (after?.rows === undefined) return 0
  return unitsIn(after.rows) - (before.rows?.era === era ? unitsIn(before.rows) : after.rows.weight)
}

/** The rows of a key without transfers in this era. */
export function newRows({ era, roster }: RegionStore, weight: number, limit: RegionalLimit): Rows {
  return { era, weight, sent: new Map(), received: new Map(), ...(isWhole(roster, limit) ? { whole: true } : {}) }
}

/** Whether the limit that a row names and the cell's limit are both divided among regions in this era, or both undivided. */
function isOfKind({ roster }: RegionStore, limit: RegionalLimit, { policy }: Row): boolean {
  if (policy === limit.policy || limit.hash === undefined) return true
  const plan = planIn(policy)
  return plan !== undefined && isUndivided(roster, plan.burst) === isWhole(roster, limit)
}
