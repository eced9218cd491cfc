import type { Store } from 'sluice'
import type { FailureChoice, StoreKind } from 'sluice/policy'
import { remoteStore } from 'sluice/remote'

/**
 * Puts the ring that `serve` uses around a remote store. For a cluster it also leases busy buckets: the limits of one request can be on
 * several nodes, and the limit that all requests share would cost each of them a round trip. `ring` is absent if the store is in this
 * process; `around` describes what surrounds the store, for whoever starts the service.
 * @param url of the store, for the description
 * @param failure of the first policy: a reload changes the deadline, which each call carries, and a restart changes the breaker
 */
export function surrounded(store: Store, url: string, { deadlineMs, breaker = {} }: FailureChoice) {
  if (store.capabilities.sync) return { store, ring: undefined, around: 'called directly' }
  const leases = store.lease === undefined || store.capabilities.atomicBatch === 'any' ? false : {}
  const ring = remoteStore(store, { breaker: { deadlineMs, ...breaker }, leases })
  const parts = ['batching', 'denials cached for up to 1 s', 'a breaker', `a deadline of ${deadlineMs} ms`]
  if (leases !== false) parts.push('busy token buckets leased')
  return { store: ring, ring, around: `${parts.join(', ')}; over-grant 0 while ${url.split(':')[0]} decides` }
}

/** The kind that bounds are computed for. A store on this process's clock is in this process, so it has no local fallback. */
export function storeKindOf({ capabilities }: Store): StoreKind {
  return capabilities.clock === 'caller' ? 'process' : 'shared'
}
