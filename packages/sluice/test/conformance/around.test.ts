import { memoryStore, type MemoryStore } from '../../src/stores/memory/memory-store.ts'
import { storeSuite } from '../../src/testing.ts'
import { farStore } from '../stores/remote/far-store.ts'
import { draws } from '../draws.ts'
import { chosen } from './rings.ts'

for (const [name, exact, wrap] of chosen.slice(-draws(2, 1))) {
  let inner: MemoryStore
  storeSuite(`${name} around far memory`, {
    open: async () => wrap(farStore((inner = memoryStore()))),
    openFull: async () => wrap(farStore(memoryStore({ maxKeys: 1 }))),
    readState: async (id) => inner.stateOf(id),
    differentialCalls: draws(10_000, 1_000),
    ownClockCalls: exact ? draws(3_000, 500) : 0,
  })
}
