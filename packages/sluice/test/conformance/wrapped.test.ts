import { memoryStore, type MemoryStore } from '../../src/stores/memory/memory-store.ts'
import type { Store } from '../../src/stores/store.ts'
import { withDeadline, withFallback, withObservers } from '../../src/stores/wrap/index.ts'
import { storeSuite } from '../../src/testing/index.ts'

/** Wrappers answer as the store they wrap. */
const wrappers: [string, (store: Store) => Store][] = [
  ['withDeadline', (store) => withDeadline(store, 1_000)],
  ['withFallback', (store) => withFallback(store, { policy: 'local', local: memoryStore() })],
  ['withObservers', (store) => withObservers(store, [{ asked: () => {} }])],
]

for (const [name, wrap] of wrappers) {
  let inner: MemoryStore
  storeSuite(`${name}(memory)`, {
    open: async () => wrap((inner = memoryStore())),
    readState: async (id) => {
      return inner.stateOf(id)
    },
    differentialCalls: 10_000,
  })
}
