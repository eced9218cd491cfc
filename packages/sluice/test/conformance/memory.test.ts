import { memoryStore, type MemoryStore } from '../../src/stores/memory/memory-store.ts'
import { storeSuite } from '../../src/testing/index.ts'

let store: MemoryStore

storeSuite('memory', {
  open: async () => (store = memoryStore()),
  readState: async (id) => {
    return store.stateOf(id)
  },
})
