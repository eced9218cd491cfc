import type { AnyLimit } from '../algorithms/algorithm.ts'
import type { Scope, StateId } from '../stores/store.ts'
import type { Micros } from '../time/micros.ts'
import { isOf, unitsOf } from './rights/cell.ts'
import type { RegionalLimit } from './rights/limit.ts'
import type { Meter } from './replicator/meter.ts'
import type { ScopeLimit } from './rights/scope-limit.ts'
import type { Cell, RegionStore } from './rights/state.ts'

/** By which limits this process called keys. A limit that a peer names may be older: during a rollout, or in a late message. */
export interface LastLimits {
  called(scope: Scope, whole: AnyLimit, limit: RegionalLimit): void
  /** The limit of this process's last call of the key. If unknown, and calls of the key's scope had only one limit, that limit. */
  of(id: StateId): ScopeLimit | undefined
  has(scope: string): boolean
  /** Microseconds: the longest time in which a limit of the scope fills a bucket. */
  fillOf(scope: string): Micros
  /** Knows for some keys by which limit they were called. */
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
      // If a scope has several limits, as during a rollout, none is remembered.
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

export interface OwnLimit extends ScopeLimit {
  /** Set if the cell may have another limit: how long its state must then be kept, in microseconds. */
  readonly doubt: Micros | undefined
}

/**
 * The limit by which a cell (one key of one limit) was last called, as the plan of its state shows. If the state shows no limit that is
 * known here, the limit that this process used, or else the one that a peer named.
 * @param isNew nobody can have called the key before
 * @param fill microseconds
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
  // A missing state does not show the limit, nor does one for at most one unit (a thousandth of the limit). Any other state shows a
  // limit that this process does not know.
  const silent = cell.bucket === undefined || unitsOf(store, cell, named.limit) <= 1
  if (silent && called !== undefined) return { ...called, doubt: undefined }
  if (silent && isNew) return { ...named, doubt: undefined }
  return { ...(called ?? named), doubt: Math.max(fill, named.limit.whole.emptyBefore.micros + 1) }
}
