import { type BucketState, tokenBucketKernel } from '../../../src/algorithms/token-bucket.ts'
import type { LeaseAnswer, LeaseRequest } from '../../../src/stores/store.ts'
import type { Time } from '../../../src/time/time.ts'
import { type LeasingStore, leasingStore } from './leasing-store.ts'

/**
 * A store with a mistake, for one key. A lease takes tokens out of the bucket, but the bucket then fills up to its whole burst again. So
 * the leased tokens can be spent in addition to a full bucket.
 */
export function hoardingStore(clock: Time): LeasingStore {
  let state: BucketState | undefined
  const grant = ({ call: { limit, cost }, want, returned }: LeaseRequest): LeaseAnswer => {
    const now = clock.now()
    const { plan } = limit
    if (returned > 0) state = tokenBucketKernel.adjust(plan, state, now, returned, 0)
    const { remaining } = tokenBucketKernel.view(plan, state, now, 0)
    const granted = Math.min(want, remaining * 1_000_000)
    const step = tokenBucketKernel.decide(plan, state, now, granted >= cost ? granted : Math.max(cost, 1), 0)
    if (granted >= cost) ({ state } = step)
    const { outcome, retryAfter, replenishAfter, resetAfter } = step
    const verdict = { outcome, retryAfter, remaining: step.remaining, replenishAfter, resetAfter }
    return { granted: granted >= cost ? granted : 0, at: now, verdict }
  }
  return { ...leasingStore(clock), lease: async (requests) => requests.map(grant) }
}
