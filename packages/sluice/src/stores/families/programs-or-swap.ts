import type { AnyLimit } from '../../algorithms/algorithm.ts'
import { offersAll } from '../group-options.ts'
import { type CallGroup, type Capabilities, type Change, failedBy, type GroupVerdict, nameOf, type Store } from '../store.ts'

/** The `decide` for groups that programs do not decide, or not all of them; undefined if programs decide all of them. */
export type BySwap = (groups: readonly CallGroup[]) => Store['decide'] | undefined

/**
 * Makes one store of two. The store that `make` returns has programs for some algorithms and options of groups. `swap` decides with the kernels, on the same
 * states. A group goes to `swap` if one of its calls has an algorithm without a program, or if it has an option that `store` does not
 * offer. Groups that share a state with such a group go to `swap` too, so that all of them are decided in order. `store` decides the other
 * groups of a list, even if `swap` fails. A list of changes goes to `swap` as a whole if programs cannot make one of them.
 * @param make makes the store with programs. Its `decide` must leave to `bySwap` the groups for which that returns a function
 * @param isChanged whether programs make a change, of a kind that the store lists; default: all but adjusts whose algorithm has no program
 */
export function programsOrSwap<S extends Store>(
  make: (bySwap: BySwap) => S,
  swap: Store,
  hasProgram: (limit: AnyLimit) => boolean,
  isChanged: (change: Change) => boolean = (change) => change.kind !== 'adjust' || hasProgram(change.call.limit),
): S {
  // The last limit that was found to have a program. Cached because most calls have the limit of the call before.
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

/**
 * Returns a function that says whether a group goes to `swap`: no program decides it, or it shares a state with a group that goes there.
 */
function swappedAmong(groups: readonly CallGroup[], hasPrograms: (group: CallGroup) => boolean): (group: CallGroup) => boolean {
  const names = new Set<string>()
  const isSwapped = (group: CallGroup): boolean => !hasPrograms(group) || group.calls.some(({ id }) => names.has(nameOf(id)))
  for (let before = -1; before < names.size;) {
    before = names.size
    for (const group of groups) if (isSwapped(group)) for (const { id } of group.calls) names.add(nameOf(id))
  }
  return isSwapped
}
