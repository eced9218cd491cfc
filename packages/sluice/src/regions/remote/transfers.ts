import type { StateId } from '../../stores/store.ts'
import { heldOf, type UnitsToGive, unitsToGive } from '../rights/cell.ts'
import { type LastLimits, ownLimit } from '../last-limits.ts'
import { isNameable } from '../replicator/messages.ts'
import type { RemoteCells } from './cells.ts'
import type { RewriteBy } from './rewrite.ts'
import type { Region } from '../rights/roster.ts'
import { type ScopeLimit, scopeLimit } from '../rights/scope-limit.ts'
import type { CellRow, Transfers } from '../rights/state.ts'
import { give, merge, unitsReceived } from '../rights/transfer.ts'
import { keyed } from '../rights/undivided.ts'

export interface RemoteTransfers {
  /** How often, and how many, units this process sent and received. */
  readonly counts: Transfers
  /** Resolves with false if the units may not be sent, or there is no room for the key. */
  send(id: StateId, by: RewriteBy, to: Region, wanted: UnitsToGive, most?: number): Promise<boolean>
  /** Resolves with false if there was no room. */
  receive(row: CellRow): Promise<boolean>
  /** The limit of a key's last call, as `ownLimit` finds it. A peer or the caller may have named another (`named`). */
  limitBy(id: StateId, named: ScopeLimit): RewriteBy
}

export function createRemoteTransfers(cells: Pick<RemoteCells, 'transfer'>, limits: LastLimits): RemoteTransfers {
  const counts: Transfers = { sent: 0, received: 0, unitsSent: 0, unitsReceived: 0 }
  const limitBy: RemoteTransfers['limitBy'] = (id, named) => (region, cell) =>
    ownLimit(region, cell, keyed(named, id), keyed(limits.of(id), id), false, limits.fillOf(id.scope.text))
  return {
    counts,
    limitBy,
    async send(id, by, to, wanted, most) {
      if (!isNameable(id)) return false
      let units = 0
      const sent = await cells.transfer(id, by, ({ region, cell, now, by: { limit, doubt } }) => {
        units = unitsToGive(wanted, () => heldOf(region, limit, cell.rows, 0))
        return give(region, cell, limit, to, units, now, most, doubt)
      })
      if (sent) counts.sent += 1
      if (sent) counts.unitsSent += units
      return sent
    },
    async receive({ scope, key, row }) {
      const named = scopeLimit(scope, row.policy)
      if (named === undefined) return true
      const id = { scope: named.scope, key }
      let refused = true
      let units = 0
      const merged = await cells.transfer(id, limitBy(id, named), ({ region, cell, now, by: { limit, doubt } }) => {
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
