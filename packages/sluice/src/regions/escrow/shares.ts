import type { AnyLimit } from '../../algorithms/algorithm.ts'
import type { Call, Scope } from '../../stores/store.ts'
import type { EscrowCells } from './cells.ts'
import type { EscrowEras } from './eras.ts'
import type { EscrowKeys } from './keys.ts'
import type { LastLimits } from '../last-limits.ts'
import type { RegionalLimit } from '../rights/limit.ts'
import { createLimitShares, type LimitShares } from './limit-shares.ts'
import { limitOfKey } from '../rights/undivided.ts'

export type EscrowShares = (call: Pick<Call, 'id' | 'limit'>, limit: RegionalLimit) => AnyLimit

export function createEscrowShares(
  eras: Pick<EscrowEras, 'region'>,
  keys: EscrowKeys,
  cells: Pick<EscrowCells, 'noteUse'>,
  limits: LastLimits,
): EscrowShares {
  const shares = new WeakMap<AnyLimit, LimitShares>()
  // A map lookup takes a tenth of the time of a decision.
  let lastScope: Scope | undefined
  let last: LimitShares | undefined
  const sharesOf = (scope: Scope, whole: AnyLimit, limit: RegionalLimit): LimitShares => {
    const { region } = eras
    limits.called(scope, whole, limit)
    let known = shares.get(whole)
    if (known?.region !== region) {
      known = createLimitShares(region, whole, limit)
      shares.set(whole, known)
    }
    lastScope = scope
    last = known
    return known
  }
  return ({ id, limit: whole }, limit) => {
    const known = last?.whole === whole && last.region === eras.region && lastScope === id.scope ? last : sharesOf(id.scope, whole, limit)
    const entry = keys.size === 0 ? undefined : keys.find(id)
    if (entry === undefined) return known.shareOf(id, undefined).limit
    if (entry.of !== known || entry.share === undefined) {
      const noted = cells.noteUse(entry, whole, limitOfKey(limit, id))
      entry.share = known.shareOf(entry.id, entry.rows)
      entry.of = noted ? known : undefined
    }
    return entry.share.limit
  }
}
