import type { Call, StateId } from '../stores/store.ts'
import type { Held, UnitsToGive } from './rights/cell.ts'
import type { Escrow } from './escrow/escrow.ts'
import type { RegionalLimit } from './rights/limit.ts'
import type { Region } from './rights/roster.ts'

/** T, or a promise of it. */
type Later<T> = T | Promise<T>

/**
 * What a replicator needs of a region's units. If the store is in this process, methods return results at once. If the store is on a
 * server, they return promises. `region` and `cells` are then as last read, and `update` with a program that changes nothing reads them
 * again.
 */
export interface Ledger extends Pick<Escrow, 'region' | 'cells' | 'limitIn' | 'limits' | 'transfers'> {
  /** The units that the region holds of a key, and the key's rows (what was sent and received). */
  held(id: StateId, limit: RegionalLimit): Later<Held>
  /**
   * Returns the names of the keys of which units were sent or received since `cursor`; undefined if these may be any keys. Also returns the
   * cursor for the next call. This method is absent over a store in this process, where `held` needs no call to a server.
   */
  changedKeys?(cursor: number | undefined): Promise<{ readonly names: readonly string[] | undefined; readonly cursor: number }>
  /** The same as `give` of `Escrow`. */
  give(call: Pick<Call, 'id' | 'limit'>, limit: RegionalLimit, to: Region, units: UnitsToGive, most?: number): Later<boolean>
  /** The same as `lend` of `Escrow`. */
  lend(...args: Parameters<Escrow['lend']>): Later<boolean>
  page(...args: Parameters<Escrow['page']>): Later<ReturnType<Escrow['page']>>
  receive(...args: Parameters<Escrow['receive']>): Later<boolean>
  update(...args: Parameters<Escrow['update']>): Later<unknown>
}
