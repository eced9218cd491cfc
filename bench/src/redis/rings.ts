import type { RemoteStoreOptions } from 'sluice/remote'

/** What surrounds a store: nothing, the default ring, or a single part of it; leases are requested in batches. */
export type RingName = 'bare' | 'sluice' | 'coalescing' | 'denied-cache' | 'leases'

export const RINGS: Readonly<Record<RingName, RemoteStoreOptions | false>> = {
  bare: false,
  sluice: {},
  coalescing: { breaker: false, denials: false },
  'denied-cache': { batching: false, breaker: false },
  leases: { leases: {}, breaker: false, denials: false },
}
