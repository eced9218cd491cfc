import { memoryStore, type MemoryStore } from '../../src/stores/memory/memory-store.ts'
import { bySlot } from '../../src/stores/redis/slots.ts'
import { storeSuite } from '../../src/testing.ts'

/** Groups over five slots: charged slot by slot, and given back. */
let inner: MemoryStore
storeSuite('bySlot(memory)', {
  open: async () => bySlot((inner = memoryStore()), ({ key }) => key.charCodeAt(key.length - 1) % 5),
  readState: async (id) => inner.stateOf(id),
  givesBack: true,
  differentialCalls: 20_000,
})
