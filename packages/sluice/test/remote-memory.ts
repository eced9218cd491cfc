import { memoryStore } from '../src/stores/memory/memory-store.ts'
import { type Store, StoreFailure, type StoreFailureKind } from '../src/stores/store.ts'

/** A memory store as one that is called over a network: it does not decide now. `members` replaces what it does. */
export function remoteMemory(memory: Store = memoryStore(), members: Partial<Store> = {}): Store {
  const { decideNow: _, ...rest } = memory
  return { ...rest, capabilities: { ...memory.capabilities, clock: 'server', sync: false }, ...members }
}

/** A remote store whose calls all fail. */
export function failingStore(kind: StoreFailureKind = 'connection', executed: 'no' | 'unknown' = 'no'): Store {
  const fail = (): Promise<never> => Promise.reject(new StoreFailure(kind, executed, 'the server is away'))
  return remoteMemory(memoryStore(), { name: 'away', decide: fail, change: fail, ready: fail })
}
