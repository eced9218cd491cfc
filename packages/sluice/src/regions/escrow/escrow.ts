import type { AnyLimit } from '../../algorithms/algorithm.ts'
import type { Call, StateId } from '../../stores/store.ts'
import type { Micros } from '../../time/micros.ts'
import { type Held, heldOf, type UnitsToGive } from '../rights/cell.ts'
import { createCursors } from '../cursors.ts'
import { statusFor } from '../rights/era.ts'
import { createEscrowCells } from './cells.ts'
import type { Entry } from './entry.ts'
import { createEscrowEras } from './eras.ts'
import { createEscrowKeys, type EscrowKeys } from './keys.ts'
import { createEscrowShares } from './shares.ts'
import { createEscrowTransfers } from './transfers.ts'
import { createLastLimits, type LastLimits } from '../last-limits.ts'
import type { RegionalLimit } from '../rights/limit.ts'
import { PAGE_ROWS } from '../replicator/messages.ts'
import { newRun } from '../rights/recovery.ts'
import type { RewritingStore } from '../rewriting-store.ts'
import type { Region, Roster } from '../rights/roster.ts'
import { type ScopeLimit, scopeLimit } from '../rights/scope-limit.ts'
import type { Page, RegionStore, Run, Transfers } from '../rights/state.ts'
import { rowTo } from '../rights/transfer.ts'
import { keyed, limitOfKey } from '../rights/undivided.ts'

export interface Escrow {
  readonly region: RegionStore
  /** Keys of which units were sent or received. */
  readonly cells: number
  /** Notes the limit of the key's last call, under which the bucket is full without its state. Called before the state is deleted. */
  reset(id: StateId): void
  /** The limit by which a key without a state is full; undefined if no units of the key were sent or received. */
  fullBy(id: StateId): RegionalLimit | undefined
  /** The region's present share of the key. */
  limitOf(call: Pick<Call, 'id' | 'limit'>, limit: RegionalLimit): AnyLimit
  held(id: StateId, limit: RegionalLimit): Held
  readonly limits: LastLimits
  /**
   * The limit by which a key was last called; if that is not known, the limit that a peer names by `policy`. Undefined if this limit cannot
   * be divided.
   */
  limitIn(id: StateId, policy: string): ScopeLimit | undefined
  /** Since the store was started. */
  readonly transfers: Transfers
  /** Returns false if the units may not be sent, or if units of `maxCells` other keys have been sent or received. */
  give(call: Pick<Call, 'id' | 'limit'>, limit: RegionalLimit, to: Region, units: UnitsToGive, most?: number): boolean
  /** As `give`, for a peer that names a limit by `policy`. If this region called the key by another limit, that one is used. */
  lend(id: StateId, policy: string, to: Region, units: UnitsToGive): boolean
  /** What was sent to the peer after the change number `cursor`. */
  page(to: Region, cursor: number): Page
  /** Returns false if there was no room for a key: the page must then be read again later. */
  receive(page: Page): boolean
  /** Also begins the next era if all regions are ready. */
  update(program: (region: RegionStore, now: Micros) => RegionStore): void
  /** Where the next page of a peer begins. */
  cursorOf(peer: RegionStore): number
  setCursor(peer: RegionStore, cursor: number): void
}

/** @param run names this life of the store */
export function createEscrow(store: RewritingStore, self: Region, roster: Roster, run: Run, maxCells: number): Escrow {
  const cursors = createCursors()
  const keys = createEscrowKeys()
  const limits = createLastLimits()
  const eras = createEscrowEras(
    newRun(self, run, roster, store.now()),
    () => store.now(),
    (before) => cells.settleAll(before),
  )
  const cells = createEscrowCells(store, eras, keys, limits, maxCells)
  const calledBy = (id: StateId): ScopeLimit | undefined => {
    const entry = keys.find(id)
    const known = entry === undefined || entry.doubtful ? limits.of(id) : { scope: entry.id.scope, whole: entry.whole, limit: entry.limit }
    return keyed(known, id)
  }
  const transfers = createEscrowTransfers(eras, cells, limits, calledBy)
  eras.update((fresh) => fresh)
  return {
    get region() {
      return eras.region
    },
    get cells() {
      return keys.size
    },
    limits,
    transfers: transfers.counts,
    limitOf: createEscrowShares(eras, keys, cells, limits),
    limitIn: (id, policy) => calledBy(id) ?? scopeLimit(id.scope.text, policy),
    reset(id) {
      const entry = keys.find(id)
      if (entry !== undefined) entry.fullBy = entry.limit
    },
    fullBy: (id) => keys.find(id)?.fullBy,
    held(id, limit) {
      const entry = keys.find(id)
      return heldOf(eras.region, limitOfKey(limit, id), entry?.rows, entry?.changed ?? 0)
    },
    give: ({ id, limit: whole }, limit, to, wanted, most) =>
      transfers.send(id, { scope: id.scope, whole, limit, doubt: undefined }, to, wanted, most),
    lend(id, policy, to, wanted) {
      const named = scopeLimit(id.scope.text, policy)
      return named !== undefined && transfers.send(id, transfers.limitBy(id, named), to, wanted)
    },
    page: (to, cursor) => pageOf(eras.region, keys, to, cursor),
    receive({ rows, status }) {
      let fits = true
      for (const row of rows) fits = transfers.receive(row) && fits
      if (status !== undefined) eras.meet(status)
      return fits
    },
    update: eras.update,
    cursorOf: (peer) => cursors.of(peer, eras.region),
    setCursor: (peer, at) => cursors.set(peer, eras.region, at),
  }
}

function pageOf(region: RegionStore, keys: EscrowKeys, to: Region, cursor: number): Page {
  const found = keys.after(cursor, PAGE_ROWS + 1)
  const some = found.slice(0, PAGE_ROWS)
  const rows = some.flatMap(({ id, rows: known }) => {
    const row = rowTo(region, { bucket: undefined, rows: known }, to)
    return row === undefined ? [] : [{ scope: id.scope.text, key: id.key, row }]
  })
  const all = some.length === found.length
  return { rows, status: all ? statusFor(region, to) : undefined, cursor: all ? keys.last : (some.at(-1) as Entry).changed }
}
