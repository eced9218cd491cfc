import type { Call, StateId } from '../stores/store.ts'
import type { Held, UnitsToGive } from './rights/cell.ts'
import type { Escrow } from './escrow/escrow.ts'
import type { RegionalLimit } from './rights/limit.ts'
import type { Region } from './rights/roster.ts'

type Later<T> = T | Promise<T>

/**
 * What a replicator needs of a region's units. Methods return promises if the store is on a server. `region` and `cells` are then as last
 * read, and every `update` reads them again.
 */
export interface Ledger extends Pick<Escrow, 'region' | 'cells' | 'limitIn' | 'limits' | 'transfers'> {
  held(id: StateId, limit: RegionalLimit): Later<Held>
  /**
   * Names of the keys of which units were sent or received since `cursor`; undefined if all keys must be read again. Absent over a store in
   * this process, where `held` needs no call to a server.
   */
  changedKeys?(cursor: number | undefined): Promise<{ readonly names: readonly string[] | undefined; readonly cursor: number }>
  give(call: Pick<Call, 'id' | 'limit'>, limit: RegionalLimit, to: Region, units: UnitsToGive, most?: number): Later<boolean>
  lend(...args: Parameters<Escrow['lend']>): Later<boolean>
  page(...args: Parameters<Escrow['page']>): Later<ReturnType<Escrow['page']>>
  receive(...args: Parameters<Escrow['receive']>): Later<boolean>
  update(...args: Parameters<Escrow['update']>): Later<unknown>
}
