import { stateName } from '../../stores/region-port.ts'
import type { StateId } from '../../stores/store.ts'
import type { StoredRows } from './rows.ts'
import type { RegionStore } from '../rights/state.ts'

/** What this process knows of its region: as last read, and how its record began. */
export interface KnownRegion {
  readonly region: RegionStore
  readonly begins: string
}

/** What this process knows of a key's rows. */
export interface KnownRows {
  /** The number of their last change. */
  readonly change: number
  readonly stored: StoredRows
}

/** What this process knows of a region whose store is on a server. It may be out of date; the server compares. */
export interface RemoteKnown {
  /** Undefined before anything was read. */
  readonly latest: KnownRegion | undefined
  remember(region: RegionStore, begins: string): void
  /** Undefined if nothing is known. @param name of the state (`stateName`) */
  rowsOf(name: string): KnownRows | undefined
  /** @param stored undefined: the key has no rows */
  rememberRows(id: StateId, change: number, stored: StoredRows | undefined): void
}

/** @param maxCells the most keys of which rows are remembered */
export function createRemoteKnown(maxCells: number): RemoteKnown {
  let latest: KnownRegion | undefined
  const rows = new Map<string, KnownRows>()
  return {
    get latest() {
      return latest
    },
    remember(region, begins) {
      if (region.run !== latest?.region.run) rows.clear()
      if (begins !== latest?.begins) latest = { region, begins }
    },
    rowsOf: (name) => (rows.size === 0 ? undefined : rows.get(name)),
    rememberRows(id, change, stored) {
      const name = stateName(id)
      rows.delete(name)
      if (stored !== undefined) rows.set(name, { change, stored })
      if (rows.size > maxCells) rows.delete(rows.keys().next().value as string)
    },
  }
}
