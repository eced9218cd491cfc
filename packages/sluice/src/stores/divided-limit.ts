import type { AnyLimit } from '../algorithms/algorithm.ts'
import { shareOf } from '../algorithms/share.ts'
import { COUNT, type Form, requireForm, STORE } from '../errors/options.ts'
import { isPossible, type Shares, sharing } from './shares.ts'
import { type Failed, type Store, StoreFailure } from './store.ts'

const NODES: Form = [(value) => typeof value === 'function' || COUNT[0](value), `${COUNT[1]}, or a function`]

/** A store of `withDividedLimit`. */
export interface DividedStore extends Store {
  /** The number of processes now; NaN if it is not a whole number above 0. */
  readonly nodes: number
}

/**
 * A store that grants an equal part of each limit, for one of `nodes` processes. All parts together are at most the limit. A group fails
 * with `unavailable`, uncharged, if only the whole limit could grant it, if the part is 0, or if `nodes` is not a whole number above 0. A
 * denial would wrongly say that the quota is used up.
 *
 * Bound G, the most tokens that n processes can grant beyond the limit over an interval of length T: max(0, n / nodes - 1) * (burst + rate
 * * T). G does not include what another store grants before and after an outage in which this store replaces it.
 * @param nodes the number of processes, or a function that returns it. A new number counts as a change of the limit
 * @throws LimiterError INVALID_OPTIONS
 */
export function withDividedLimit(store: Store, nodes: number | (() => number)): DividedStore {
  requireForm('withDividedLimit', 'store', store, STORE)
  requireForm('withDividedLimit', 'nodes', nodes, NODES)
  const partOf = createParts()
  // If the function `nodes` throws, groups of calls fail as for an invalid number.
  const count = (): number => {
    try {
      const found: unknown = typeof nodes === 'function' ? nodes() : nodes
      return COUNT[0](found) ? (found as number) : Number.NaN
    } catch {
      return Number.NaN
    }
  }
  const failed = (parts: number): Failed => ({
    failure: new StoreFailure('unavailable', 'no', `${store.name}: its part of the limit, divided by ${parts}, can never grant this`),
  })
  const sharesNow = (): Shares => {
    const parts = count()
    return {
      of: ({ limit }) => partOf(limit, parts),
      none: () => failed(parts),
      beyond: ({ calls }, verdict) => (parts > 1 && isPossible(calls) ? failed(parts) : verdict),
    }
  }
  return {
    name: store.name,
    capabilities: store.capabilities,
    get nodes() {
      return count()
    },
    ...sharing(store, sharesNow),
  }
}

/** Computes one of `parts` equal parts of a limit. Undefined if the part is 0 or not exact, or if `parts` is NaN. */
function createParts(): (limit: AnyLimit, parts: number) => AnyLimit | undefined {
  const known = new WeakMap<AnyLimit, { readonly parts: number; readonly limit: AnyLimit | undefined }>()
  return (limit, parts) => {
    if (Number.isNaN(parts)) return undefined
    const last = known.get(limit)
    if (last?.parts === parts) return last.limit
    const made = { parts, limit: shareOf(limit, parts) }
    known.set(limit, made)
    return made.limit
  }
}
