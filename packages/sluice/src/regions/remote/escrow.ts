import type { AnyLimit } from '../../algorithms/algorithm.ts'
import { type RegionPort, withShares } from '../../stores/region-port.ts'
import type { Call, CallOptions, Scope } from '../../stores/store.ts'
import type { Micros } from '../../time/micros.ts'
import { eachBounded } from '../bounded.ts'
import { heldOf } from '../rights/cell.ts'
import { createCursors } from '../cursors.ts'
import { createLastLimits, type LastLimits } from '../last-limits.ts'
import type { Ledger } from '../ledger.ts'
import type { RegionalLimit } from '../rights/limit.ts'
import { newRun } from '../rights/recovery.ts'
import { createRemoteCells, type RemoteCells } from './cells.ts'
import { createRemoteEras } from './eras.ts'
import { createRemoteKnown, type RemoteKnown } from './known.ts'
import { createRemotePages } from './pages.ts'
import { createShares } from './shares.ts'
import { createRemoteTransfers } from './transfers.ts'
import type { Region, Roster } from '../rights/roster.ts'
import { scopeLimit } from '../rights/scope-limit.ts'
import type { RegionStore } from '../rights/state.ts'
import { limitOfKey } from '../rights/undivided.ts'

/**
 * The units of a region whose store is on a server. What this process knows may be out of date, so the server checks it at each call.
 * Before the first read, `region` is `learning` and holds nothing.
 */
export interface RemoteEscrow extends Ledger {
  /** Reads the region's record, and writes one if this run (server lifetime) has none. */
  refresh(options?: CallOptions): Promise<RegionStore>
  /** A limit that decides by the region's share of each key. */
  limitOf(call: Pick<Call, 'id' | 'limit'>, limit: RegionalLimit): AnyLimit
  readonly read: RemoteCells['read']
  readonly adjust: RemoteCells['adjust']
  cursorOf(peer: RegionStore): number
  setCursor(peer: RegionStore, cursor: number): void
}

/**
 * @param maxCells the most keys of which quota may be sent or received
 * @param time the time to decide at; 0 for the server's clock
 */
export function createRemoteEscrow(
  port: RegionPort,
  self: Region,
  roster: Roster,
  maxCells: number,
  time: () => Micros = () => 0,
): RemoteEscrow {
  const unread: RegionStore = { ...newRun(self, '', roster, 0), phase: 'learning' }
  const known = createRemoteKnown(maxCells)
  const limits = createLastLimits()
  const cursors = createCursors()
  const eras = createRemoteEras(port, self, roster, time, known, () => cells.settleAll())
  const cells = createRemoteCells(port, time, maxCells, known, eras, limits)
  const transfers = createRemoteTransfers(cells, limits)
  const pages = createRemotePages(port, time)
  const refresh = (options?: CallOptions): Promise<RegionStore> => eras.update((current) => current, options)
  return {
    get region() {
      return known.latest?.region ?? unread
    },
    get cells() {
      return pages.cells
    },
    transfers: transfers.counts,
    refresh,
    limits,
    limitIn: (id, policy) => limits.of(id) ?? scopeLimit(id.scope.text, policy),
    limitOf: createLimitOf(known, cells, limits, refresh),
    read: cells.read,
    async held(id, limit) {
      const found = await cells.read(id, limit)
      return heldOf(found.region, limitOfKey(limit, id), found.cell.rows, found.change)
    },
    give: ({ id }, limit, to, wanted, most) => transfers.send(id, limit, to, wanted, most),
    async lend(id, policy, to, wanted) {
      const named = scopeLimit(id.scope.text, policy)
      return named !== undefined && transfers.send(id, transfers.limitBy(id, named), to, wanted)
    },
    changedKeys: pages.changedKeys,
    async page(to, cursor) {
      await refresh()
      return pages.page(to, cursor)
    },
    async receive({ rows, status }) {
      let fits = true
      await eachBounded(rows, async (row) => {
        if (!(await transfers.receive(row))) fits = false
      })
      if (status !== undefined) await eras.meet(status)
      return fits
    },
    update: (program) => eras.update(program),
    adjust: cells.adjust,
    cursorOf: (peer) => cursors.of(peer, known.latest?.region),
    setCursor(peer, at) {
      if (known.latest !== undefined) cursors.set(peer, known.latest.region, at)
    },
  }
}

/** Marks limits, so that the store decides their calls by this region's shares. */
function createLimitOf(
  known: RemoteKnown,
  cells: Pick<RemoteCells, 'settle'>,
  limits: LastLimits,
  refresh: (options?: CallOptions) => Promise<RegionStore>,
): RemoteEscrow['limitOf'] {
  const marked = new WeakMap<AnyLimit, AnyLimit>()
  const parts = {
    get known() {
      return known.latest
    },
    rowsOf: known.rowsOf,
    refresh,
    settle: cells.settle,
  }
  let lastScope: Scope | undefined
  let lastWhole: AnyLimit | undefined
  let last: AnyLimit | undefined
  return ({ id: { scope }, limit: whole }, limit) => {
    if (last !== undefined && scope === lastScope && whole === lastWhole) return last
    limits.called(scope, whole, limit)
    last = marked.get(whole)
    if (last === undefined) marked.set(whole, (last = withShares(whole, createShares(parts, whole, limit))))
    lastScope = scope
    lastWhole = whole
    return last
  }
}
