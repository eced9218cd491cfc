import type { Store } from 'sluice'
import { resilient, type ResilientStore } from 'sluice/wrap'

export interface Surrounded {
  readonly store: Store
  /** Present if wrappers surround the store. */
  readonly around?: ResilientStore
  /** Describes the wrappers, for whoever starts the service. */
  readonly says: string
}

/** Each call carries the deadline of the policy in force at that time. The wrappers' own bound must not be shorter. */
const MAX_DEADLINE_MS = 60_000

/**
 * Adds the wrappers that `serve` uses for a store across a network. For a cluster it also leases busy buckets: the limits of one request
 * lie on several nodes there, and the limit that all requests share would cost each of them a round trip.
 */
export function surrounded(store: Store, url: string, deadlineMs: number): Surrounded {
  if (store.capabilities.sync) return { store, says: 'asked directly' }
  const leases = store.capabilities.atomicBatch === 'any' ? false : {}
  const around = resilient(store, { deadlineMs: MAX_DEADLINE_MS, breaker: { deadlineMs }, leases })
  const parts = ['calls joined', 'denials remembered for up to 1 s', 'a breaker', `a deadline of ${deadlineMs} ms`]
  if (leases !== false && store.lease !== undefined) parts.push('busy token buckets leased')
  return { store: around, around, says: `${parts.join(', ')}; over-grant 0 while ${url.split(':')[0]} decides` }
}
