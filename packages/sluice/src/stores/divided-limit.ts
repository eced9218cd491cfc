import type { AnyLimit } from '../algorithms/algorithm.ts'
import { shareOf } from '../algorithms/share.ts'
import { COUNT, type Form, requireForm, STORE } from '../errors/options.ts'
import { isPossible, type Shares, sharing } from './shares.ts'
import { type Failed, type Store, StoreFailure } from './store.ts'

const NODES: Form = [(value) => typeof value === 'function' || COUNT[0](value), `${COUNT[1]}, or a function`]

/** A store that grants only a part of each limit. */
export interface DividedStore extends Store {
  /** The number of processes among which limits are divided now; NaN if the count is not a whole number above 0. */
  readonly nodes: number
}

/**
 * A store that grants an equal part of each limit: the local fallback of one of `nodes` processes. All parts together are at most the
 * limit. A group fails with `unavailable`, and is not charged, in three cases. It must not be denied then, because that looks like a
 * used-up quota.
 * - The whole limit could grant the group, but its part never can.
 * - The part is 0.
 * - The count of processes is not a whole number above 0.
 *
 * Bound G for n processes that divide by `nodes`, over an interval of length T: max(0, n / nodes - 1) * (burst + rate * T). This counts
 * only what the parts grant, not what the store that failed granted in the interval.
 * @param nodes the number of processes, or a function that counts those alive now; if the number changes, states are converted (law 7)
 * @throws LimiterError INVALID_OPTIONS
 */
export function withDividedLimit(store: Store, nodes: number | (() => number)): DividedStore {
  requireForm('withDividedLimit', 'store', store, STORE)
  requireForm('withDividedLimit', 'nodes', nodes, NODES)
  const partOf = createParts()
  // Decisions never throw. So if the function throws, that is treated like an invalid count.
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

/**
 * Makes a function that computes parts of limits, and caches the last part of each limit. It returns undefined if the part is 0, if whole
 * numbers cannot represent it, or if the count is NaN.
 */
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
