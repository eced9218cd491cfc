import type { Store } from 'sluice'
import { resilient, type ResilientStore } from 'sluice/wrap'

export interface Surrounded {
  readonly store: Store
  /** Present where something stands around the store. */
  readonly around?: ResilientStore
  /** What is switched on, for whoever starts the service. */
  readonly says: string
}

/** Every question comes with the deadline of the policy that holds when it is asked: what stands around the store must not cut it. */
const MAX_DEADLINE_MS = 60_000

/**
 * What `serve` puts around a store that is asked over a wire. A cluster's busy buckets are leased besides: limits of one request lie on several nodes there, and
 * the one that all requests share would cost each of them a round trip.
 */
export function surrounded(store: Store, url: string, deadlineMs: number): Surrounded {
  if (store.capabilities.sync) return { store, says: 'asked directly' }
  const leases = store.capabilities.atomicBatch === 'any' ? false : {}
  const around = resilient(store, { deadlineMs: MAX_DEADLINE_MS, breaker: { deadlineMs }, leases })
  const parts = ['calls joined', 'denials remembered for up to 1 s', 'a breaker', `a deadline of ${deadlineMs} ms`]
  if (leases !== false && store.lease !== undefined) parts.push('busy token buckets leased')
  return { store: around, around, says: `${parts.join(', ')}; over-grant 0 while ${url.split(':')[0]} decides` }
}
