import { expect, it } from 'vitest'
import { memoryStore } from '../../../src/stores/memory/memory-store.ts'
import type { Store } from '../../../src/stores/store.ts'
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
} from '../../../src/stores/wrap/index.ts'

const WRAPPERS: readonly [name: string, wrap: (store: Store) => Store][] = [
  ['withDeadline', (store) => withDeadline(store, 1_000)],
  ['withWarmUp', (store) => withWarmUp(store)],
  ['withFallback', (store) => withFallback(store, { policy: 'local', local: memoryStore() })],
  ['withDividedLimit', (store) => withDividedLimit(store, 1)],
  ['withObservers', (store) => withObservers(store, [{ onStoreCall: () => {} }])],
  ['withCoalescing', (store) => withCoalescing(store)],
  ['withDeniedCache', (store) => withDeniedCache(store)],
  ['withBreaker', (store) => withBreaker(store)],
  ['withLeases', (store) => withLeases(store, { afterCalls: 1, share: 1 })],
  ['resilient', (store) => resilient(store, { deadlineMs: 1_000 })],
]

it.each(WRAPPERS)('X7: %s is called as its store is, in metrics and messages', (_, wrap) => {
  const far: Store = { ...memoryStore(), capabilities: { clock: 'server', atomicBatch: 'any', sync: false } }
  expect(wrap({ ...far, name: 'mine' }).name).toBe('mine')
  const { name, ...unnamed } = far
  expect(name).toBeDefined()
  expect(wrap(unnamed).name).toBeUndefined()
})
