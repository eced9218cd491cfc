import type { Algorithm, AnyLimit } from '../../algorithms/algorithm.ts'
import { type BucketPlan, samePlan } from '../../algorithms/bucket-plan.ts'
import { fromMicroTokens } from '../../algorithms/decimal.ts'
import { settleBucket } from '../../algorithms/settle-bucket.ts'
import { type BucketState, tokenBucketKernel as base } from '../../algorithms/token-bucket.ts'
import type { Micros } from '../../time/micros.ts'
import { currentCell, explicitBucket, lastShift, unitsOf } from './cell.ts'
import { adopted } from './decide.ts'
import type { RegionalLimit } from './limit.ts'
import type { RegionStore, Rows } from './state.ts'

type Bucket = Algorithm<BucketPlan, BucketState>

/** A region's share of a bucket, as a limit. Any store that runs kernels (algorithms in TypeScript) can decide it. */
export interface Share {
  /**
   * After a change of the regions' weights, keys without a state may not be full yet, and this limit computes their tokens. A simpler limit
   * replaces it once all are full.
   */
  limit: AnyLimit
}

/**
 * Decides like a token bucket, and converts states after shifts (closes and opens of eras, times of constant weights). Units that a shift
 * adds come without tokens, also for keys without a state. Once these keys' buckets are full again, a simpler limit replaces the share's.
 */
export function shareOf(whole: AnyLimit, limit: RegionalLimit, region: RegionStore, rows: Rows | undefined): Share {
  const units = unitsOf(region, { bucket: undefined, rows }, limit)
  const plan = limit.share(Math.max(units, 1))
  const made = { ...whole, plan, capacity: fromMicroTokens(plan.burst) }
  if (units === 0) return { limit: Object.freeze({ ...made, capacity: 0, algorithm: EMPTY }) }
  const { at } = lastShift(region)
  /** Up to date with the present era and the share's plan; undefined if full. */
  const current = (bucket: BucketState | undefined, now: Micros): BucketState | undefined => {
    const cell = currentCell(region, { bucket, rows }, limit, now)
    return adopted(region, cell, limit) ?? (cell.time > now ? explicitBucket(cell, limit) : undefined)
  }
  const settled: Bucket = {
    ...base,
    // Most states need no conversion: they were written with this plan, after the last shift (close or open of an era).
    adopt: (own, state, now) => (at < state.seen && (state.plan === own || samePlan(state.plan, own)) ? state : current(state, now)),
    // A caller that stops waiting gets nothing back if the region's share has changed since the charge.
    leave: (own, state, now, cost, charged) =>
      state === undefined || settled.adopt(own, state, now, 0) !== state ? state : base.leave?.(own, state, now, cost, charged),
  }
  const share: Share = { limit: Object.freeze({ ...made, algorithm: settled }) }
  const later = share.limit
  const settledAt = at + plan.emptyBefore.micros
  /** Store time never goes back, so once all keys without a state are full, they stay full. */
  const orAbsent = (state: BucketState | undefined, now: Micros): BucketState | undefined => {
    if (now >= settledAt) share.limit = later
    return state ?? current(undefined, now)
  }
  const algorithm: Bucket = {
    ...settled,
    decide: (own, state, now, cost, phase, into) => base.decide(own, orAbsent(state, now), now, cost, phase, into),
    adjust: (own, state, now, amount, phase, receipt) => base.adjust(own, orAbsent(state, now), now, amount, phase, receipt),
    settle: (own, state, now, hold) => settleBucket(base, own, orAbsent(state, now), now, hold),
    view: (own, state, now, phase) => base.view(own, orAbsent(state, now), now, phase),
  }
  share.limit = Object.freeze({ ...made, algorithm })
  return share
}

/** As `shareOf`, for states that the store has converted to the region's present units. */
export function plainShare(whole: AnyLimit, limit: RegionalLimit, units: number): AnyLimit {
  const plan = limit.share(Math.max(units, 1))
  if (units === 0) return Object.freeze({ ...whole, plan, capacity: 0, algorithm: EMPTY })
  return Object.freeze({ ...whole, plan, capacity: fromMicroTokens(plan.burst), algorithm: base })
}

/** A share without units: every cost is above it. States do not change, so they are intact when units arrive later. */
const EMPTY: Bucket = {
  ...base,
  adopt: (_plan, state) => state,
  decide(_plan, state, _now, _cost, _phase, into = base.step()) {
    return Object.assign(into, { outcome: 'impossible', retryAfter: 0, state, remaining: 0, replenishAfter: 0, resetAfter: 0 })
  },
  adjust: (_plan, state) => state,
  leave: (_plan, state) => state,
  settle: (_plan, state, _now, { held, actual }) => ({ state, charged: Math.min(held, actual) }),
  view: () => ({ remaining: 0, replenishAfter: 0, resetAfter: 0 }),
}
