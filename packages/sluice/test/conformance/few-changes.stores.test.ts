import { memoryStore, type MemoryStore } from '../../src/stores/memory/memory-store.ts'
import { type Change, StoreFailure } from '../../src/stores/store.ts'
import { storeSuite } from '../../src/testing.ts'

type Kinds = readonly Change['kind'][]

/** Rejects all other changes, because the suite may not make them. */
function onlyWith(changes: Kinds): MemoryStore {
  const { groupOptions: _, ...capabilities } = memoryStore().capabilities
  const store = memoryStore()
  return {
    ...store,
    capabilities: { ...capabilities, changes },
    async change(list, options) {
      for (const { kind } of list) if (!changes.includes(kind)) throw new StoreFailure('setup', 'no', `the store has no ${kind}`)
      return store.change(list, options)
    },
  }
}

for (const kinds of [[], ['reset'], ['adjust', 'block', 'unblock']] satisfies Kinds[]) {
  let store: MemoryStore
  storeSuite(`a store with ${kinds.length === 0 ? 'no changes' : `only ${kinds.join(', ')}`}`, {
    open: async () => (store = onlyWith(kinds)),
    readState: async (id) => store.stateOf(id),
    differentialCalls: 2_000,
    ownClockCalls: 500,
  })
}
