import { memoryStore, type MemoryStore } from '../../src/stores/memory/memory-store.ts'
import { storeSuite } from '../../src/testing.ts'
import { draws } from '../draws.ts'

let store: MemoryStore

storeSuite('memory', {
  open: async () => (store = memoryStore()),
  openFull: async () => memoryStore({ maxKeys: 1 }),
  differentialCalls: draws(100_000, 4_000),
  ownClockCalls: draws(6_000, 500),
  readState: async (id) => {
    return store.stateOf(id)
  },
})
