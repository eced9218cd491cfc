import type { RemoteStoreOptions } from 'sluice/remote'

/**
 * The ring (batches, denial cache and leases) around a store: none, the default one, or one with a single part. Leases are requested in
 * batches.
 */
export type RingName = 'bare' | 'sluice' | 'coalescing' | 'denied-cache' | 'leases'

export const RINGS: Readonly<Record<RingName, RemoteStoreOptions | false>> = {
  bare: false,
  sluice: {},
  coalescing: { breaker: false, denials: false },
  'denied-cache': { batching: false, breaker: false },
  leases: { leases: {}, breaker: false, denials: false },
}
