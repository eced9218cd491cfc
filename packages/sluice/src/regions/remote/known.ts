import type { StateId } from '../../stores/store.ts'
import type { StoredRows } from './rows.ts'
import type { RegionStore } from '../rights/state.ts'

/** The region's record, as this process last read it. */
export interface KnownRegion {
  readonly region: RegionStore
  /** The record's run (store lifetime) and the number of its last change. The server compares both. */
  readonly begins: string
}

/** The units and tokens of a key that this region sent and received, as last read. */
export interface KnownRows {
  /** The number of the last change of the rows. */
  readonly change: number
  readonly stored: StoredRows
}

/** Possibly out of date; the server checks it at each call. */
export interface RemoteKnown {
  /** Undefined before the region's record was read. */
  readonly latest: KnownRegion | undefined
  remember(region: RegionStore, begins: string): void
  /** Undefined if none are known. */
  rowsOf(id: StateId): KnownRows | undefined
  /** @param stored undefined if the key has no rows */
  rememberRows(id: StateId, change: number, stored: StoredRows | undefined): void
}

export function createRemoteKnown(maxCells: number): RemoteKnown {
  let latest: KnownRegion | undefined
  /** By scope, then by key. One map would need a joined text at each call. */
  const scopes = new Map<string, Map<string, KnownRows>>()
  let size = 0
  const forget = (scope: string, key: string): void => {
    const rows = scopes.get(scope)
    if (rows?.delete(key) !== true) return
    size -= 1
    if (rows.size === 0) scopes.delete(scope)
  }
  return {
    get latest() {
      return latest
    },
    remember(region, begins) {
      if (region.run !== latest?.region.run) {
        scopes.clear()
        size = 0
      }
      if (begins !== latest?.begins) latest = { region, begins }
    },
    rowsOf: ({ scope, key }) => (size === 0 ? undefined : scopes.get(scope.text)?.get(key)),
    rememberRows({ scope: { text }, key }, change, stored) {
      forget(text, key)
      if (stored === undefined) return
      const rows = scopes.get(text) ?? new Map<string, KnownRows>()
      scopes.set(text, rows)
      rows.set(key, { change, stored })
      size += 1
      if (size <= maxCells) return
      const [scope, oldest] = scopes.entries().next().value as [string, ReadonlyMap<string, KnownRows>]
      forget(scope, oldest.keys().next().value as string)
    },
  }
}
