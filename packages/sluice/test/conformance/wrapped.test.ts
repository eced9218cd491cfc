import { memoryStore, type MemoryStore } from '../../src/stores/memory/memory-store.ts'
import { storeSuite } from '../../src/testing/index.ts'
import { wrappers } from './wrappers.ts'

for (const [name, wrap] of wrappers) {
  let inner: MemoryStore
  storeSuite(`${name}(memory)`, {
    open: async () => wrap((inner = memoryStore())),
    readState: async (id) => inner.stateOf(id),
    differentialCalls: 10_000,
  })
}
