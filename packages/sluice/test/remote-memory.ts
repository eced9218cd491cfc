import { memoryStore } from '../src/stores/memory/memory-store.ts'
import { type Store, StoreFailure, type StoreFailureKind } from '../src/stores/store.ts'

/** A memory store that behaves like a store over a network: it never decides at once. `members` replace its methods. */
export function remoteMemory(memory: Store = memoryStore(), members: Partial<Store> = {}): Store {
  const { decideNow: _, ...rest } = memory
  return { ...rest, capabilities: { ...memory.capabilities, clock: 'server', sync: false }, ...members }
}

/** A remote store whose calls all fail. */
export function failingStore(kind: StoreFailureKind = 'connection', executed: 'no' | 'unknown' = 'no'): Store {
  const fail = (): Promise<never> => Promise.reject(new StoreFailure(kind, executed, 'the server is away'))
  return remoteMemory(memoryStore(), { name: 'away', decide: fail, change: fail, ready: fail })
}

/** A remote memory store with a switch that makes it fail. */
export function switchable(error: Error = new StoreFailure('timeout', 'unknown', 'no answer')): { readonly store: Store; fail: boolean } {
  const memory = memoryStore()
  const wire = { fail: true }
  const decide: Store['decide'] = async (groups, options) => {
    if (wire.fail) throw error
    return memory.decide(groups, options)
  }
  return Object.assign(wire, { store: remoteMemory(memory, { decide }) })
}
