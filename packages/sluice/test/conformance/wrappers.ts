import { memoryStore } from '../../src/stores/memory/memory-store.ts'
import type { Store } from '../../src/stores/store.ts'
import {
  resilient,
  withBreaker,
  withCoalescing,
  withDeadline,
  withDeniedCache,
  withFallback,
  withLeases,
  withObservers,
  withDividedLimit,
  withWarmUp,
} from '../../src/stores/wrap/index.ts'
import { hereFirst } from '../stores/wrap/here-first.ts'

/** Wrappers answer as the store they wrap. */
export const wrappers: readonly [name: string, wrap: (store: Store) => Store][] = [
  ['withDeadline', (store) => withDeadline(store, 1_000)],
  ['withWarmUp', (store) => withWarmUp(store)],
  ['withFallback', (store) => withFallback(store, { policy: 'local', local: memoryStore() })],
  ['withDividedLimit', (store) => withDividedLimit(store, 1)],
  ['withObservers', (store) => withObservers(store, [{ onStoreCall: () => {} }])],
  ['withCoalescing', (store) => withCoalescing(store)],
  ['withDeniedCache', (store) => withDeniedCache(store)],
  ['withBreaker', (store) => withBreaker(store)],
  ['resilient', (store) => resilient(store, { deadlineMs: 1_000, leases: { afterCalls: 1, share: 1 } })],
  ['withLeases', (store) => withLeases(store, { afterCalls: 1, share: 1 })],
]
/** The same as limiters ask it, which makes a difference over a wire. */
export const asked: typeof wrappers = [
  ['resilient, as limiters ask', (store) => hereFirst(resilient(store, { deadlineMs: 1_000, leases: { afterCalls: 1, share: 1 } }))],
]
