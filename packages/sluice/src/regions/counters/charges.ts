import type { AnyLimit } from '../../algorithms/algorithm.ts'
import type { BucketPlan } from '../../algorithms/bucket-plan.ts'
import { type BucketState, tokenBucketKernel } from '../../algorithms/token-bucket.ts'
import type { Call, StateId } from '../../stores/store.ts'
import { indebted } from './debt.ts'
import type { RewritingStore } from '../rewriting-store.ts'

/**
 * Charges this region's buckets for what other regions spent. While it is cut off (could not read a peer), separate buckets decide its
 * calls, so those calls are charged here, too.
 */
export interface Charges {
  /**
   * @param amount micro-tokens
   * @returns false, with nothing charged, if the store has no room for the state
   */
  charge(id: StateId, plan: BucketPlan, amount: number): boolean
  /** Charges a call now or once the store has room. */
  mustCharge(call: Pick<Call, 'id' | 'limit' | 'cost'>): void
  /** Retries charges that had no room. Called before each decision. */
  retry(): void
}

export function createCharges(store: RewritingStore): Charges {
  let debts: Pick<Call, 'id' | 'limit' | 'cost'>[] = []
  const charge: Charges['charge'] = (id, plan, amount) =>
    store.rewrite(id, tokenBucketKernel, (state, now) => {
      const bucket = indebted(plan, state as BucketState | undefined, now, amount)
      return { limit: { algorithm: tokenBucketKernel, plan: bucket.plan } as unknown as AnyLimit, state: bucket }
    })
  return {
    charge,
    mustCharge({ id, limit, cost }) {
      if (!charge(id, limit.plan as BucketPlan, cost)) debts.push({ id: { scope: id.scope, key: id.key }, limit, cost })
    },
    retry() {
      if (debts.length > 0) debts = debts.filter(({ id, limit, cost }) => !charge(id, limit.plan as BucketPlan, cost))
    },
  }
}
