import { Redis } from 'ioredis'
import { describe, inject } from 'vitest'
import { stateName } from '../../src/keys/encode.ts'
import { memoryStore, type MemoryStore } from '../../src/stores/memory/memory-store.ts'
import { ioredis, redisStore } from '../../src/stores/redis/index.ts'
import { readValue } from '../../src/stores/redis/value.ts'
import type { Store } from '../../src/stores/store.ts'
import {
  resilient,
  withBreaker,
  withCoalescing,
  withDeadline,
  withDeniedCache,
  withFallback,
  withLeases,
  withObservers,
  withShare,
  withWarmUp,
} from '../../src/stores/wrap/index.ts'
import { storeSuite } from '../../src/testing/index.ts'
import { farStore } from '../stores/wrap/far-store.ts'
import { hereFirst } from '../stores/wrap/here-first.ts'

/** Wrappers answer as the store they wrap. */
const wrappers: readonly [name: string, wrap: (store: Store) => Store][] = [
  ['withDeadline', (store) => withDeadline(store, 1_000)],
  ['withWarmUp', (store) => withWarmUp(store)],
  ['withFallback', (store) => withFallback(store, { policy: 'local', local: memoryStore() })],
  ['withShare', (store) => withShare(store, 1)],
  ['withObservers', (store) => withObservers(store, [{ asked: () => {} }])],
  ['withCoalescing', (store) => withCoalescing(store)],
  ['withDeniedCache', (store) => withDeniedCache(store)],
  ['withBreaker', (store) => withBreaker(store)],
  ['resilient', (store) => resilient(store, { deadlineMs: 1_000, leases: { afterCalls: 1, share: 1 } })],
  ['withLeases', (store) => withLeases(store, { afterCalls: 1, share: 1 })],
]
/** The same as limiters ask it, which makes a difference over a wire. */
const asked: typeof wrappers = [
  ['resilient, as limiters ask', (store) => hereFirst(resilient(store, { deadlineMs: 1_000, leases: { afterCalls: 1, share: 1 } }))],
]

/** Beside a caller, and at the far end of a wire. */
const memories: readonly [name: string, open: (inner: MemoryStore) => Store][] = [
  ['memory', (inner) => inner],
  ['far memory', (inner) => farStore(inner)],
]

for (const [name, wrap] of [...wrappers, ...asked]) {
  for (const [where, open] of asked.some(([one]) => one === name) ? memories.slice(1) : memories) {
    let inner: MemoryStore
    storeSuite(`${name}(${where})`, {
      open: async () => wrap(open((inner = memoryStore()))),
      readState: async (id) => {
        return inner.stateOf(id)
      },
      differentialCalls: 10_000,
    })
  }
}

const { redis: url } = inject('engines')

describe.skipIf(url === undefined)('around Redis', () => {
  for (const [name, wrap] of [...wrappers, ...asked]) {
    const prefix = `${name.replaceAll(' ', '')}-${process.pid}:`
    const client = new Redis(url ?? '', { lazyConnect: true })
    storeSuite(`${name}(redis)`, {
      open: async () => wrap(redisStore({ client: ioredis(client), prefix })),
      readState: async (id) => readValue(await client.getBuffer(prefix + stateName(id))).numbers,
      close: async () => {
        await client.quit()
      },
      differentialCalls: 10_000,
    })
  }
})
