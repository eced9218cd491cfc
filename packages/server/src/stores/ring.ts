import type { Store } from 'sluice'
import type { FailureChoice, StoreKind } from 'sluice/policy'
import { type BreakerChange, remoteStore } from 'sluice/remote'

/**
 * Puts the ring that `serve` uses (batches, breaker, remembered denials) around a remote store. For a cluster the ring also leases tokens
 * of busy buckets, which means that it takes them in advance. The limits of one request can be on several nodes. So a limit that all
 * requests share would otherwise cost each request one more round trip. `ring` is absent if the store is in this process. `around`
 * describes the ring in one line that `serve` prints.
 * @param url of the store, for the description
 * @param failure what the first policy says about failures of the store. A reloaded policy changes the deadline, because each call carries
 * it; the breaker changes only at a restart
 * @param onChange called when a breaker changes its state
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

/**
 * The kind of a store, for computing how many tokens a rule may admit above its limit. A store that uses this process's clock is in this
 * process. It then needs no local fallback (a store in this process that decides while a remote one fails).
 */
export function storeKindOf({ capabilities }: Store): StoreKind {
  return capabilities.clock === 'caller' ? 'process' : 'shared'
}
