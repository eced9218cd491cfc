import { memoryStore } from './stores/memory/memory-store.ts'
import type { Store } from './stores/store.ts'
import type { Time } from './time/time.ts'

/**
 * Makes the local fallback: the store that decides in this process while `store` cannot. Undefined for a store in this process, because a
 * second memory store would grant every burst again.
 */
export function localFallback(store: Store, clock: Time): Store | undefined {
  return store.capabilities.sync ? undefined : memoryStore({ clock })
}
