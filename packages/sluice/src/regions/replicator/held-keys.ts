import { nameOf, type StateId } from '../../stores/store.ts'
import type { Held } from '../rights/cell.ts'
import type { RegionalLimit } from '../rights/limit.ts'
import type { Ledger } from '../ledger.ts'
import type { RegionStore } from '../rights/state.ts'

/**
 * Remembers the quota units of keys, because a read may be a round trip per key. The figures only show whether there is something to send.
 * The amount to send is computed from a new read.
 */
export interface HeldKeys {
  of(id: StateId, limit: RegionalLimit): Held | Promise<Held>
  /** Drops what is known of keys that have changed. */
  refresh(): Promise<void>
  forget(id: StateId): void
}

export function createHeldKeys(ledger: Ledger, maxKeys: number): HeldKeys {
  const { changedKeys } = ledger
  if (changedKeys === undefined) return { of: (id, limit) => ledger.held(id, limit), refresh: async () => {}, forget: () => {} }
  const held = new Map<string, Held>()
  let region: RegionStore | undefined
  let cursor: number | undefined
  // Raised when keys are dropped. A read that began before is not remembered: it may lack the change, which is not reported again.
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
      // A new run (store lifetime) numbers its changes anew, so the cursor is dropped.
      cursor = region?.run === before.run || region === undefined ? changed.cursor : undefined
      region = before
    },
    forget(id) {
      generation += 1
      held.delete(nameOf(id))
    },
  }
}
