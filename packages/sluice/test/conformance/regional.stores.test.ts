import { exchange, type RegionalStore, regionalStore } from '../../src/regions.ts'
import { memoryStore, type MemoryStore } from '../../src/stores/memory/memory-store.ts'
import { storeSuite } from '../../src/testing.ts'
import { systemTime } from '../../src/time/system.ts'

const NAMES = ['eu', 'us', 'ap']
const weightsOf = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, name === 'eu' ? 1000 : 0]))

// All rights in one region: whatever the regions divide, one that holds everything decides as a store without regions.
for (const count of [1, 2, 3]) {
  let inner: MemoryStore
  const around = (store: MemoryStore) => regionalStore({ store, self: 'eu', weights: weightsOf(NAMES.slice(0, count)) })
  storeSuite(`a region that holds all, of ${count}, over memory`, {
    open: async () => around((inner = memoryStore())),
    openFull: async () => around(memoryStore({ maxKeys: 1 })),
    readState: async (id) => inner.stateOf(id),
    differentialCalls: 10_000,
    ownClockCalls: 1_500,
  })
}

// The regions have met long before the times of the suite, so that all keys are full.
const LONG_BEFORE = -3_000_000_000_000_000
for (const count of [1, 2, 3]) {
  let inner: MemoryStore
  const open = (options: { readonly maxKeys?: number } = {}): [RegionalStore, MemoryStore] => {
    let joined = false
    const clock = { ...systemTime, now: () => (joined ? systemTime.now() : LONG_BEFORE) }
    const own = memoryStore({ ...options, clock })
    const names = NAMES.slice(0, count)
    const stores = names.map((self) =>
      regionalStore({ store: self === 'eu' ? own : memoryStore({ clock }), self, weights: weightsOf(names), mode: 'escrow' }),
    )
    for (let round = 0; round < 3; round += 1) {
      for (const one of stores) for (const other of stores) if (one !== other) exchange(one, other)
    }
    joined = true
    return [stores[0] as RegionalStore, own]
  }
  storeSuite(`escrow with all rights in one region of ${count}, over memory`, {
    open: async () => {
      const [store, own] = open()
      inner = own
      return store
    },
    openFull: async () => open({ maxKeys: 1 })[0],
    readState: async (id) => inner.stateOf(id),
    differentialCalls: 10_000,
    ownClockCalls: 1_500,
  })
}
