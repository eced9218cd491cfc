import type { AnyLimit } from '../algorithms/algorithm.ts'
import type { Scope, StateId } from '../stores/store.ts'
import type { Micros } from '../time/micros.ts'
import { isOf, unitsOf } from './rights/cell.ts'
import type { RegionalLimit } from './rights/limit.ts'
import type { Meter } from './replicator/meter.ts'
import type { ScopeLimit } from './rights/scope-limit.ts'
import type { Cell, RegionStore } from './rights/state.ts'

/** By which limits this process called keys. Peers name a limit too, but theirs may be an older one, or that of an older message. */
export interface LastLimits {
  called(scope: Scope, whole: AnyLimit, limit: RegionalLimit): void
  /** The limit by which this process last called the key. If that is not known: the limit of all calls of its scope, if they had only one. */
  of(id: StateId): ScopeLimit | undefined
  /** Whether keys of a scope were called. */
  has(scope: string): boolean
  /** The longest fill time of the limits of a scope. */
  fillOf(scope: string): Micros
  /** Knows of some keys by which limit they were called. */
  meter: Pick<Meter, 'find'> | undefined
}

export function createLastLimits(): LastLimits {
  const scopes = new Map<string, { only: ScopeLimit | undefined; fill: Micros }>()
  const last: LastLimits = {
    meter: undefined,
    called(scope, whole, limit) {
      const known = scopes.get(scope.text)
      const fill = Math.max(known?.fill ?? 0, limit.whole.emptyBefore.micros + 1)
      if (known === undefined || known.only?.limit.policy === limit.policy) scopes.set(scope.text, { only: { scope, whole, limit }, fill })
      // Overrides have limits of their own in one scope, and so has a rollout.
      else Object.assign(known, { only: undefined, fill })
    },
    of(id) {
      const metered = last.meter?.find(id)
      if (metered?.called === true) return { scope: metered.id.scope, whole: metered.whole, limit: metered.limit }
      return scopes.get(id.scope.text)?.only
    },
    has: (scope) => scopes.has(scope),
    fillOf: (scope) => scopes.get(scope)?.fill ?? 0,
  }
  return last
}

/** The limit of a cell by which its units are sent to peers and received from them. */
export interface OwnLimit extends ScopeLimit {
  /** The parameter `doubt` of `give` and `merge`: set if the cell may have another limit. */
  readonly doubt: Micros | undefined
}

/**
 * The limit by which a cell was last called. Its state shows that. If it has none, or had no units, this process may know.
 * @param named by a peer
 * @param called what this process knows; undefined for nothing
 * @param isNew whether nobody can have called the key before
 * @param fill the longest fill time of the limits that the key may have
 */
export function ownLimit(
  store: RegionStore,
  cell: Cell,
  named: ScopeLimit,
  called: ScopeLimit | undefined,
  isNew: boolean,
  fill: Micros,
): OwnLimit {
  for (const one of [called, named]) if (one !== undefined && isOf(store, cell, one.limit)) return { ...one, doubt: undefined }
  // Without a state, or with that of at most one unit, a cell shows nothing. Any other state is one of a limit that is not known.
  const silent = cell.bucket === undefined || unitsOf(store, cell, named.limit) <= 1
  if (silent && called !== undefined) return { ...called, doubt: undefined }
  if (silent && isNew) return { ...named, doubt: undefined }
  return { ...(called ?? named), doubt: Math.max(fill, named.limit.whole.emptyBefore.micros + 1) }
}
