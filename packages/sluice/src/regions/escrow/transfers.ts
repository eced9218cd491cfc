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

export interface EscrowTransfers {
  readonly counts: Transfers
  /** Returns false if the units may not be sent, or if there is no room for another key. */
  send(id: StateId, by: CellLimit, to: Region, wanted: UnitsToGive, most?: number): boolean
  /** Adds what a peer has sent of a key, as its row says. Returns false if there was no room for the key. */
  receive(row: CellRow): boolean
  /** Chooses the limit of a key's last call in this region; if unknown, the one that a peer has named. */
  limitBy(id: StateId, named: ScopeLimit): CellLimit
}

/** @param calledBy the limit of a key's last call, if known */
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
      // Stays true if there is no room for another key, because `rewrite` then does not run the program.
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
