import type { AnyLimit } from '../../algorithms/algorithm.ts'
import { type CallGroup, failedBy, type GroupVerdict, nameOf, type Store } from '../store.ts'

/**
 * A store with programs for some algorithms. Groups with a call of another algorithm go to `swap`, which decides with the kernels on the
 * same states, and so do groups that share states with them, so that all are decided in order. Other groups of a list are decided by
 * programs, whatever happens to these. A list of changes with an adjustment of such states goes to `swap` as a whole.
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
    async decide(groups, options) {
      if (groups.every(hasPrograms)) return store.decide(groups, options)
      const isSwapped = swappedAmong(groups, hasPrograms)
      const [ours, kernels] = await Promise.all(
        [store, swap].map(async (by) => {
          const some = groups.filter((group) => isSwapped(group) === (by === swap))
          const verdicts =
            some.length === 0 ? [] : await by.decide(some, options).catch((error: unknown) => some.map(() => failedBy(error)))
          return verdicts.values()
        }),
      )
      return groups.map((group) => (isSwapped(group) ? kernels : ours)?.next().value as GroupVerdict)
    },
    change(changes, options) {
      const by = changes.every((change) => change.kind !== 'adjust' || isKnown(change.call.limit)) ? store : swap
      return by.change(changes, options)
    },
  }
}

/** Whether a group has a call of another algorithm, or shares states with such a group. */
function swappedAmong(groups: readonly CallGroup[], hasPrograms: (group: CallGroup) => boolean): (group: CallGroup) => boolean {
  const names = new Set<string>()
  const isSwapped = (group: CallGroup): boolean => !hasPrograms(group) || group.calls.some(({ id }) => names.has(nameOf(id)))
  for (let before = -1; before < names.size;) {
    before = names.size
    for (const group of groups) if (isSwapped(group)) for (const { id } of group.calls) names.add(nameOf(id))
  }
  return isSwapped
}
