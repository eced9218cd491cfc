import type { StateId } from '../../stores/store.ts'
import { heldOf, type UnitsToGive, unitsToGive } from '../rights/cell.ts'
import type { CellLimit, EscrowCells } from './cells.ts'
import type { EscrowEras } from './eras.ts'
import { type LastLimits, ownLimit } from '../last-limits.ts'
import { isNameable } from '../replicator/messages.ts'
import type { Region } from '../rights/roster.ts'
import { type ScopeLimit, scopeLimit } from '../rights/scope-limit.ts'
import type { CellRow, Transfers } from '../rights/state.ts'
import { give, merge, unitsReceived } from '../rights/transfer.ts'
import { keyed } from '../rights/undivided.ts'

/** Sends units of keys to peers, and receives units that peers have sent. */
export interface EscrowTransfers {
  readonly counts: Transfers
  /** Sends units of a key. Returns false if they may not be sent, or if there is no room for another key of which units were sent. */
  send(id: StateId, by: CellLimit, to: Region, wanted: UnitsToGive, most?: number): boolean
  /** Receives a row, which says what a peer has sent of a key. Returns false if there was no room for it. */
  receive(row: CellRow): boolean
  /** Chooses the limit of a key for which a peer has named a limit. Calls in this region may have used another one. */
  limitBy(id: StateId, named: ScopeLimit): CellLimit
}

/** @param calledBy returns the limit by which a key was last called; undefined if that is not known */
export function createEscrowTransfers(
  eras: Pick<EscrowEras, 'region'>,
  cells: Pick<EscrowCells, 'rewrite'>,
  limits: LastLimits,
  calledBy: (id: StateId) => ScopeLimit | undefined,
): EscrowTransfers {
  const counts: Transfers = { sent: 0, received: 0, unitsSent: 0, unitsReceived: 0 }
  const limitBy: EscrowTransfers['limitBy'] = (id, named) => (cell) =>
    ownLimit(eras.region, cell, keyed(named, id), calledBy(id), !limits.has(id.scope.text), limits.fillOf(id.scope.text))
  return {
    counts,
    limitBy,
    send(id, by, to, wanted, most) {
      if (!isNameable(id)) return false
      const { region } = eras
      let units = 0
      const sent = cells.rewrite(id, by, (cell, { limit, doubt }, now) => {
        units = unitsToGive(wanted, () => heldOf(region, limit, cell.rows, 0))
        return give(region, cell, limit, to, units, now, most, doubt)
      })
      if (sent) counts.sent += 1
      if (sent) counts.unitsSent += units
      return sent
    },
    receive({ scope, key, row }) {
      const named = scopeLimit(scope, row.policy)
      if (named === undefined) return true
      const { region } = eras
      const id = { scope: named.scope, key }
      let units = 0
      // `rewrite` does not run the program if there is no room for another key. Then this stays true.
      let refused = true
      const merged = cells.rewrite(id, limitBy(id, named), (cell, { limit, doubt }, now) => {
        const next = merge(region, cell, limit, row, now, doubt)
        refused = next !== undefined
        units = unitsReceived(region, cell, next)
        return next
      })
      if (merged) counts.received += 1
      if (merged) counts.unitsReceived += units
      return merged || !refused
    },
  }
}
