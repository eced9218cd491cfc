import { memoryStore } from './stores/memory/memory-store.ts'
import type { Store } from './stores/store.ts'
import type { Time } from './time/time.ts'

/**
 * Makes the local fallback: the store that decides in this process while `store` cannot. Returns undefined if `store` is in this process,
 * because a second memory store would grant every burst again. If `store` grants only a part of each limit, as that of a region may, the
 * local fallback grants the same parts.
 */
export function localFallback(store: Store, clock: Time): Store | undefined {
  const { sync, around } = store.capabilities
  if (sync) return undefined
  const local = memoryStore({ clock })
  return around === undefined ? local : around(local)
}
