import type { AnyLimit } from '../../algorithms/algorithm.ts'
import type { CallGroup, Store } from '../store.ts'

/**
 * A store with programs for some algorithms. A list with a call of another algorithm, or an adjustment of its states, goes to `swap` as a
 * whole: it decides with the kernels on the same states, so that all are decided in order.
 */
export function programsOrSwap<S extends Store>(store: S, swap: Store, hasProgram: (limit: AnyLimit) => boolean): S {
  // Most calls have the limit of the call before.
  let known: AnyLimit | undefined
  const isKnown = (limit: AnyLimit): boolean => {
    if (limit !== known && hasProgram(limit)) known = limit
    return limit === known
  }
  const hasPrograms = ({ calls }: CallGroup): boolean => calls.every(({ limit }) => isKnown(limit))
  return {
    ...store,
    decide: (groups, options) => (groups.every(hasPrograms) ? store : swap).decide(groups, options),
    change(changes, options) {
      const by = changes.every((change) => change.kind !== 'adjust' || isKnown(change.call.limit)) ? store : swap
      return by.change(changes, options)
    },
  }
}
