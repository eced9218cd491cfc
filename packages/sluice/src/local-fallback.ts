import { memoryStore } from './stores/memory/memory-store.ts'
import type { Store } from './stores/store.ts'
import type { Time } from './time/time.ts'

/**
 * The store that decides while `store` cannot. Undefined if `store` is in this process, because a second memory store would grant every
 * burst again. If `store` grants only a part of each limit, `around` makes the fallback do the same.
 */
export function localFallback(store: Store, clock: Time): Store | undefined {
  const { sync, around } = store.capabilities
  if (sync) return undefined
  const local = memoryStore({ clock })
  return around === undefined ? local : around(local)
}
