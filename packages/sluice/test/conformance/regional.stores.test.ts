import { regionalStore } from '../../src/regions.ts'
import { memoryStore, type MemoryStore } from '../../src/stores/memory/memory-store.ts'
import type { Store } from '../../src/stores/store.ts'
import { type StoreSuiteOptions, storeSuite } from '../../src/testing.ts'
import { allInOne, escrowOverMemory } from './escrow-memory.ts'
import { ADOPTS, travellers } from './out-and-back.ts'

type Opened = readonly [Store, MemoryStore]

function suite(name: string, open: (maxKeys?: number) => Opened, options: Partial<StoreSuiteOptions> = {}): void {
  let inner: MemoryStore
  storeSuite(`${name}, over memory`, {
    open: async () => {
      const [store, own] = open()
      inner = own
      return store
    },
    openFull: async () => open(1)[0],
    readState: async (id) => inner.stateOf(id),
    differentialCalls: 10_000,
    ownClockCalls: 1_500,
    ...options,
  })
}

// One region of `count` holds all of the limit. So it must decide as its store does without regions.
for (const count of [1, 2, 3]) {
  suite(`a region that holds all, of ${count}`, (maxKeys) => {
    const inner = memoryStore(maxKeys === undefined ? {} : { maxKeys })
    return [regionalStore({ store: inner, self: 'eu', weights: allInOne(count) }), inner]
  })
  suite(`escrow with all rights in one region of ${count}`, (maxKeys) => escrowOverMemory(count, undefined, maxKeys))
}

// A region that has sent a part of each key's limit to others, and has it back, must decide as its store does without regions.
for (const count of [2, 3]) {
  const travelling = travellers()
  let inner: MemoryStore
  suite(
    `escrow after transfers out and back, through ${count} regions`,
    (maxKeys) => {
      const opened = escrowOverMemory(count, maxKeys === undefined ? travelling : travellers(), maxKeys)
      if (maxKeys === undefined) [, inner] = opened
      return opened
    },
    {
      readState: async (id) => travelling.unlessUntouched(inner.stateOf(id)),
      keepsTokens: travelling.keepsTokens,
      // ADOPTS is set because of keys without a state: a key that was full by its earlier limit has none.
      ...ADOPTS,
      differentialCalls: 3_000,
    },
  )
}
