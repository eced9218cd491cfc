import type { Algorithm, AnyLimit } from '../../algorithms/algorithm.ts'
import { type BucketPlan, levelAt } from '../../algorithms/bucket-plan.ts'
import { settleBucket } from '../../algorithms/settle-bucket.ts'
import { type BucketState, bucketWith, filled, timeOf, tokenBucketKernel as base } from '../../algorithms/token-bucket.ts'
import type { Micros } from '../../time/micros.ts'

/**
 * Charges a bucket for what other regions spent. Its level may fall any amount below empty: if there were a lowest level, debt below it
 * would be forgotten, and these tokens granted again. How far it can fall: docs/decisions/0036.
 * @param plan used without a state: the bucket is then full before the charge
 * @param amount micro-tokens
 */
export function indebted(plan: BucketPlan, state: BucketState | undefined, now: Micros, amount: number): BucketState {
  const own = state?.plan ?? plan
  const time = timeOf(state, now)
  const before = filled(own, state, time)
  const level = levelAt(own, before, time) - BigInt(amount) * BigInt(own.m)
  return bucketWith(own, level, time, before.keepFor)
}

/**
 * A part of a limit that is granted from an instant on. At that instant all buckets count as empty, because the regions may have used the
 * whole limit.
 */
export function partSince(part: AnyLimit, since: Micros): AnyLimit {
  const empty = (plan: BucketPlan): BucketState => bucketWith(plan, 0n, since, 0)
  const algorithm: Algorithm<BucketPlan, BucketState> = {
    ...base,
    adopt: (plan, state, now) => (state.seen > since ? base.adopt(plan, state, now, 0) : empty(plan)),
    decide: (plan, state, now, cost, phase, into) => base.decide(plan, state ?? empty(plan), now, cost, phase, into),
    adjust: (plan, state, now, amount, phase, receipt) => base.adjust(plan, state ?? empty(plan), now, amount, phase, receipt),
    settle: (plan, state, now, hold) => settleBucket(base, plan, state ?? empty(plan), now, hold),
    view: (plan, state, now, phase) => base.view(plan, state ?? empty(plan), now, phase),
  }
  return Object.freeze({ ...part, algorithm })
}
