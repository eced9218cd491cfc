import { requireForm, STORE } from './errors/options.ts'
import { memoryStore } from './stores/memory/memory-store.ts'
import type { Store } from './stores/store.ts'
import type { Time } from './time/time.ts'

/**
 * Returns the local fallback: the store that decides in this process while `store` cannot. A store in this process is its own fallback,
 * because a second one would grant every burst again.
 * @throws LimiterError INVALID_OPTIONS if `store` is not a store
 */
export function standIn(where: string, store: Store, clock: Time): Store {
  requireForm(where, 'store', store, STORE)
  return store.capabilities.sync ? store : memoryStore({ clock })
}
