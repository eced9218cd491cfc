import type { Store } from '../../../src/stores/store.ts'

/** A store as limiters ask it: at first for what it knows without asking. */
export function hereFirst(store: Store): Store {
  return {
    ...store,
    async consume(groups, options) {
      const [group] = groups
      const mayAnswer = group !== undefined && groups.length === 1 && options?.now === undefined && options?.signal?.aborted !== true
      const here = mayAnswer && (options?.deadline ?? Infinity) > performance.now() ? store.consumeHere?.(group) : undefined
      return here === undefined ? store.consume(groups, options) : [here]
    },
  }
}
