import type { CallOutcome } from '../../algorithms/algorithm.ts'
import { samePlan } from '../../algorithms/bucket-plan.ts'
import { type BucketState, tokenBucketKernel } from '../../algorithms/token-bucket.ts'
import type { Micros } from '../../time/micros.ts'
import { type CurrentCell, currentCell, lastShift, levelOf, resettle } from './cell.ts'
import type { RegionalLimit } from './limit.ts'
import type { Cell, RegionStore } from './state.ts'

export interface RegionalStep {
  readonly outcome: CallOutcome
  /** Microseconds from `now`. Absent if the region's share can never grant the cost. */
  readonly retryAfter?: Micros
  readonly cell: Cell
}

/**
 * A share is a token bucket with a part of the limit's rate and burst. A cost above the share's burst is denied; only a cost above the
 * whole burst is impossible.
 * @param cost micro-tokens, above 0
 */
export function decide(store: RegionStore, cell: Cell, limit: RegionalLimit, now: Micros, cost: number): RegionalStep {
  const current = currentCell(store, cell, limit, now)
  const { units, time, rows } = current
  if (units === 0) return { outcome: cost > limit.whole.burst ? 'impossible' : 'denied', cell }
  const state = adopted(store, current, limit)
  const step = tokenBucketKernel.decide(limit.share(units), state, time, cost, 0)
  // Written even if the call is denied, because a changed limit applies from the first call on (law 7).
  const next = { bucket: step.state, rows }
  if (step.outcome === 'impossible') return { outcome: cost > limit.whole.burst ? 'impossible' : 'denied', cell: next }
  return { outcome: step.outcome, retryAfter: step.outcome === 'denied' ? step.retryAfter + time - now : 0, cell: next }
}

/** The most micro-tokens that one call could take now. */
export function spendable(store: RegionStore, cell: Cell, limit: RegionalLimit, now: Micros): number {
  const current = currentCell(store, cell, limit, now)
  const { units, time } = current
  if (units === 0) return 0
  const state = adopted(store, current, limit)
  if (state === undefined) return limit.share(units).burst
  return Math.max(0, levelOf(state, units, Math.max(time, state.seen)))
}

/**
 * Converts a state to this limit's share: normally, a bucket that is full under another limit becomes full under this one. If units were
 * sent or received, or an era has just ended or begun, it keeps its tokens instead. Another region may have spent the difference.
 */
export function adopted(store: RegionStore, { units, bucket, rows, time }: CurrentCell, limit: RegionalLimit): BucketState | undefined {
  const plan = limit.share(units)
  if (bucket === undefined || samePlan(bucket.plan, plan)) return bucket
  const settled = time - lastShift(store).at >= plan.emptyBefore.micros + bucket.plan.emptyBefore.micros
  if (settled && rows === undefined) return tokenBucketKernel.adopt(plan, bucket, time, 0)
  return resettle(limit, bucket, units, units, Math.max(time, bucket.seen))
}
