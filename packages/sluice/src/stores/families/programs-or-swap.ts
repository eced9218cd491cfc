import type { AnyLimit } from '../../algorithms/algorithm.ts'
import { offersAll } from '../group-options.ts'
import { type CallGroup, type Capabilities, type Change, failedBy, type GroupVerdict, nameOf, type Store } from '../store.ts'

/** The `decide` for a list of groups that programs cannot decide alone; undefined if they can. */
export type BySwap = (groups: readonly CallGroup[]) => Store['decide'] | undefined

/**
 * Makes one store of two on the same states. The one with programs decides on the server, `swap` with the algorithms in TypeScript. `swap`
 * gets groups for which there is no program, and groups that share a state with these, so that all are decided in order. It gets a list of
 * changes if programs cannot make one of them.
 * @param make must call `bySwap` with each list of groups; if that returns a function, this decides them
 * @param isChanged whether programs can make a change of a kind that is among the `changes` of the programs' store
 */
export function programsOrSwap<S extends Store>(
  make: (bySwap: BySwap) => S,
  swap: Store,
  hasProgram: (limit: AnyLimit) => boolean,
  isChanged: (change: Change) => boolean = (change) => change.kind !== 'adjust' || hasProgram(change.call.limit),
): S {
  // Cached because most calls have the limit of the call before.
  let known: AnyLimit | undefined
  const isKnown = (limit: AnyLimit): boolean => {
    if (limit !== known && hasProgram(limit)) known = limit
    return limit === known
  }
  const hasPrograms = ({ calls, options }: CallGroup): boolean =>
    offersAll(store.capabilities.groupOptions, options) && calls.every(({ limit }) => isKnown(limit))
  const isOurs = (change: Change): boolean => store.capabilities.changes.includes(change.kind) && isChanged(change)
  const decideBoth: Store['decide'] = async (groups, options) => {
    const isSwapped = swappedAmong(groups, hasPrograms)
    const [ours, kernels] = await Promise.all(
      [store, swap].map(async (by) => {
        const some = groups.filter((group) => isSwapped(group) === (by === swap))
        const verdicts = some.length === 0 ? [] : await by.decide(some, options).catch((error: unknown) => some.map(() => failedBy(error)))
        return verdicts.values()
      }),
    )
    return groups.map((group) => (isSwapped(group) ? kernels : ours)?.next().value as GroupVerdict)
  }
  const store = make((groups) => (groups.every(hasPrograms) ? undefined : decideBoth))
  return {
    ...store,
    capabilities: { ...store.capabilities, changes: swap.capabilities.changes, ...offered(swap) },
    change(changes, options) {
      const by = changes.every(isOurs) ? store : swap
      return by.change(changes, options)
    },
  }
}

function offered({ capabilities: { groupOptions } }: Store): Pick<Capabilities, 'groupOptions'> {
  return groupOptions === undefined ? {} : { groupOptions }
}

/** Whether `swap` decides a group: no program can, or it shares a state with a group that `swap` decides. */
function swappedAmong(groups: readonly CallGroup[], hasPrograms: (group: CallGroup) => boolean): (group: CallGroup) => boolean {
  const names = new Set<string>()
  const isSwapped = (group: CallGroup): boolean => !hasPrograms(group) || group.calls.some(({ id }) => names.has(nameOf(id)))
  for (let before = -1; before < names.size;) {
    before = names.size
    for (const group of groups) if (isSwapped(group)) for (const { id } of group.calls) names.add(nameOf(id))
  }
  return isSwapped
}
