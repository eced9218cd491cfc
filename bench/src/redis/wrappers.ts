import type { Store } from 'sluice'
import { resilient, withCoalescing, withDeniedCache, withLeases } from 'sluice/wrap'

/** What stands around a store, with its defaults; leases are taken through joined calls, as in `resilient`. */
export type Around = 'nothing' | 'coalescing' | 'denied-cache' | 'leases' | 'resilient'

const AROUND: Readonly<Record<Around, (store: Store) => Store>> = {
  nothing: (store) => store,
  coalescing: (store) => withCoalescing(store),
  'denied-cache': (store) => withDeniedCache(store),
  leases: (store) => withLeases(withCoalescing(store)),
  resilient: (store) => resilient(store),
}

export function wrapped(store: Store, around: Around): Store {
  return AROUND[around](store)
}
