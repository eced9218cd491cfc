import type { AnyLimit } from '../../algorithms/algorithm.ts'
import type { Store } from '../store.ts'

/**
 * A store with programs for some algorithms. A list with a call of another algorithm, or an adjustment of its states, goes to `swap` as a
 * whole: it decides with the kernels on the same states, so that all are decided in order.
 */
export function programsOrSwap<S extends Store>(store: S, swap: Store, hasProgram: (limit: AnyLimit) => boolean): S {
  return {
    ...store,
    decide: (groups, options) => {
      const by = groups.every(({ calls }) => calls.every(({ limit }) => hasProgram(limit))) ? store : swap
      return by.decide(groups, options)
    },
    change: (changes, options) => {
      const by = changes.every((change) => change.kind !== 'adjust' || hasProgram(change.call.limit)) ? store : swap
      return by.change(changes, options)
    },
  }
}
