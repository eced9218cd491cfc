import type { AnyLimit } from '../../algorithms/algorithm.ts'
import { type CallGroup, type Change, type ChangeResult, type GroupVerdict, type StateId, type Store, StoreFailure } from '../store.ts'

/**
 * A store with programs for some algorithms. Groups with a call of another algorithm, and adjustments of its states, go to `swap`, which
 * decides with the kernels on the same states. Groups that share states with such groups go there too, so that all are decided in order.
 */
export function programsOrSwap<S extends Store>(store: S, swap: Store, hasProgram: (limit: AnyLimit) => boolean): S {
  return {
    ...store,
    decide: async (groups, options) => {
      if (groups.every(({ calls }) => calls.every(({ limit }) => hasProgram(limit)))) return store.decide(groups, options)
      const swapped = swappedOf(groups, hasProgram)
      if (groups.every((group) => swapped.has(group))) return swap.decide(groups, options)
      const [ours, others] = await Promise.all(
        [store, swap].map((by) => {
          const some = groups.filter((group) => swapped.has(group) === (by === swap))
          return by.decide(some, options).catch((error: unknown) => some.map(() => failedBy(error)))
        }),
      )
      const [rest, kernels] = [[...(ours ?? [])], [...(others ?? [])]]
      return groups.map((group) => (swapped.has(group) ? kernels : rest).shift() as GroupVerdict)
    },
    change: async (changes, options) => {
      const byKernel = (change: Change): boolean => change.kind === 'adjust' && !hasProgram(change.call.limit)
      const results: ChangeResult[] = []
      while (results.length < changes.length) {
        const rest = changes.slice(results.length)
        const kernel = byKernel(rest[0] as Change)
        const end = rest.findIndex((change) => byKernel(change) !== kernel)
        results.push(...(await (kernel ? swap : store).change(end === -1 ? rest : rest.slice(0, end), options)))
      }
      return results
    },
  }
}

/** The groups with a call of another algorithm, and those that share states with them. */
function swappedOf(groups: readonly CallGroup[], hasProgram: (limit: AnyLimit) => boolean): ReadonlySet<CallGroup> {
  const swapped = new Set<CallGroup>()
  const names = new Set<string>()
  for (let before = -1; before < swapped.size;) {
    before = swapped.size
    for (const group of groups) {
      if (swapped.has(group)) continue
      if (group.calls.every(({ id, limit }) => hasProgram(limit) && !names.has(nameOf(id)))) continue
      swapped.add(group)
      for (const { id } of group.calls) names.add(nameOf(id))
    }
  }
  return swapped
}

/** Scopes have no blanks. */
function nameOf({ scope, key }: StateId): string {
  return `${scope.text} ${key}`
}

/** @throws any error that is not a StoreFailure */
function failedBy(error: unknown): GroupVerdict {
  if (error instanceof StoreFailure) return { failure: error }
  throw error
}
