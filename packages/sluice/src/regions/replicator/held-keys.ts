import { nameOf, type StateId } from '../../stores/store.ts'
import type { Held } from '../rights/cell.ts'
import type { RegionalLimit } from '../rights/limit.ts'
import type { Ledger } from '../ledger.ts'
import type { RegionStore } from '../rights/state.ts'

/**
 * What a region holds of keys, as last read. A store on a server is read again only for keys whose rows have changed: demand is measured
 * twice in a period, of many keys, and most of them send and receive nothing. What is sent is computed by what is there then.
 */
export interface HeldKeys {
  of(id: StateId, limit: RegionalLimit): Held | Promise<Held>
  /** Learns which keys have changed. */
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
  // Raised when keys are dropped. What was read before may be older than the change for which they were, which is not learned of again.
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
      // A run counts its changes from the beginning.
      cursor = region?.run === before.run || region === undefined ? changed.cursor : undefined
      region = before
    },
    forget(id) {
      generation += 1
      held.delete(nameOf(id))
    },
  }
}
