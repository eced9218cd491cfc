import { memoryStore, type MemoryStore } from '../../src/stores/memory/memory-store.ts'
import { storeSuite } from '../../src/testing/index.ts'
import { wrappers } from './wrappers.ts'
import { draws } from '../draws.ts'

for (const [name, wrap] of wrappers) {
  let inner: MemoryStore
  storeSuite(`${name}(memory)`, {
    open: async () => wrap((inner = memoryStore())),
    readState: async (id) => inner.stateOf(id),
    differentialCalls: draws(10_000, 1_000),
  })
}
