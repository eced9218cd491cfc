import { memoryStore, type MemoryStore } from '../../src/stores/memory/memory-store.ts'
import { storeSuite } from '../../src/testing/index.ts'

let store: MemoryStore

storeSuite('memory', {
  open: async () => (store = memoryStore()),
  ownClockCalls: 6_000,
  readState: async (id) => {
    return store.stateOf(id)
  },
})
