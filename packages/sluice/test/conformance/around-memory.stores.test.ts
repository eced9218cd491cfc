import { memoryStore, type MemoryStore } from '../../src/stores/memory/memory-store.ts'
import { storeSuite } from '../../src/testing.ts'
import { farStore } from '../stores/remote/far-store.ts'
import { others } from './rings.ts'

for (const [name, exact, wrap] of others) {
  let inner: MemoryStore
  storeSuite(`${name} around far memory`, {
    open: async () => wrap(farStore((inner = memoryStore()))),
    openFull: async () => wrap(farStore(memoryStore({ maxKeys: 1 }))),
    readState: async (id) => inner.stateOf(id),
    differentialCalls: 10_000,
    ownClockCalls: exact ? 3_000 : 0,
  })
}
