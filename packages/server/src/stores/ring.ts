import type { Store } from 'sluice'
import type { FailureChoice, StoreKind } from 'sluice/policy'
import { type BreakerChange, remoteStore } from 'sluice/remote'

/**
 * For a cluster, tokens of busy buckets are leased (taken in advance). Otherwise a limit that all requests share, often on another node,
 * would cost each request one more round trip.
 * @param url of the store, for the description
 * @param failure of the first policy. Each call has its own deadline, but the breaker changes only at a restart
 */
export function surrounded(
  store: Store,
  url: string,
  { deadlineMs, breaker = {} }: FailureChoice,
  onChange?: (change: BreakerChange) => void,
) {
  if (store.capabilities.sync) return { store, ring: undefined, around: 'called directly' }
  const leases = store.lease === undefined || store.capabilities.atomicBatch === 'any' ? false : {}
  const ring = remoteStore(store, { breaker: { deadlineMs, ...breaker, ...(onChange && { onChange }) }, leases })
  const parts = ['batching', 'denials cached for up to 1 s', 'a breaker', `a deadline of ${deadlineMs} ms`]
  if (leases !== false) parts.push('busy token buckets leased')
  return { store: ring, ring, around: `${parts.join(', ')}; over-grant 0 while ${url.split(':')[0]} decides` }
}

/** A store with this process's clock is in this process. */
export function storeKindOf({ capabilities }: Store): StoreKind {
  return capabilities.clock === 'caller' ? 'process' : 'shared'
}
