import { nameOf, type StateId } from '../../stores/store.ts'
import type { Held } from '../rights/cell.ts'
import type { RegionalLimit } from '../rights/limit.ts'
import type { Ledger } from '../ledger.ts'
import type { RegionStore } from '../rights/state.ts'

/**
 * How many units a region holds of keys, as last read. If the store is on a server, only keys are read again of which units were sent or
 * received since. Demand is measured for many keys, twice in a period, and no units of most of them move. These figures only show of which
 * keys there are units to send. How many are sent is computed from what the region holds at that instant.
 */
export interface HeldKeys {
  of(id: StateId, limit: RegionalLimit): Held | Promise<Held>
  /** Reads which keys have changed since the last call, and drops what is known of them. */
  refresh(): Promise<void>
  forget(id: StateId): void
}

/** @param maxKeys the most keys that are remembered */
export function createHeldKeys(ledger: Ledger, maxKeys: number): HeldKeys {
  const { changedKeys } = ledger
  if (changedKeys === undefined) return { of: (id, limit) => ledger.held(id, limit), refresh: async () => {}, forget: () => {} }
  const held = new Map<string, Held>()
  let region: RegionStore | undefined
  let cursor: number | undefined
  // Increases when `refresh` drops keys. If it has increased while a key was read, the result may be older than the change for which keys
  // were dropped. Such a result is not remembered, because no later `refresh` would report that change again.
  let generation = 0
  const isCurrent = (): boolean => region === ledger.region
  return {
    async of(id, limit) {
      const name = nameOf(id)
      const known = isCurrent() ? held.get(name) : undefined
      if (known !== undefined) return known
      const begun = generation
      const found = await ledger.held(id, limit)
      if (begun === generation && isCurrent() && held.size < maxKeys) held.set(name, found)
      return found
    },
    async refresh() {
      const before = ledger.region
      const changed = await changedKeys(cursor)
      generation += 1
      if (region !== before || changed.names === undefined) held.clear()
      for (const name of changed.names ?? []) held.delete(name)
      // If the region's store has another run (life), its changes are counted from the beginning again. So the cursor is dropped.
      cursor = region?.run === before.run || region === undefined ? changed.cursor : undefined
      region = before
    },
    forget(id) {
      generation += 1
      held.delete(nameOf(id))
    },
  }
}
