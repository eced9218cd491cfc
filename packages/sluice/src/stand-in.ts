import { requireForm, STORE } from './errors/options.ts'
import { memoryStore } from './stores/memory/memory-store.ts'
import type { Store } from './stores/store.ts'
import type { Time } from './time/time.ts'

/**
 * What decides in this process while the store cannot. A store that is itself in this process has none but itself: a second one
 * would grant every burst again.
 * @throws LimiterError INVALID_OPTIONS for what is no store
 */
export function standIn(where: string, store: Store, clock: Time): Store {
  requireForm(where, 'store', store, STORE)
  return store.capabilities.sync ? store : memoryStore({ clock })
}
