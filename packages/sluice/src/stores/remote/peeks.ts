import { type CallGroup, type GroupVerdict, nameOf } from '../store.ts'
import { type Listed, listed } from './answers.ts'

/**
 * Within one call, a store decides each group as if those before it had been charged. So lists of different callers that share a state are
 * sent in separate calls. Equal lists share the answers.
 */
export async function peekLists(
  lists: readonly (readonly CallGroup[])[],
  send: (groups: readonly CallGroup[]) => Promise<readonly GroupVerdict[]>,
): Promise<readonly Listed<GroupVerdict>[]> {
  const calls: { readonly groups: CallGroup[]; readonly states: Set<string> }[] = []
  const known = new Map<string, { readonly list: readonly CallGroup[]; readonly call: number; readonly from: number }>()
  const positions = lists.map((list) => {
    const text = list.map(({ calls: of }) => of.map(({ id, cost }) => `${nameOf(id)} ${cost}`).join('\n')).join('\n\n')
    const same = known.get(text)
    if (same !== undefined && haveSameLimits(same.list, list)) return same
    const names = list.flatMap((group) => group.calls.map(({ id }) => nameOf(id)))
    const free = calls.findIndex(({ states }) => !names.some((name) => states.has(name)))
    const { groups, states } = calls[free] ?? { groups: [], states: new Set() }
    const position = { list, call: free === -1 ? calls.push({ groups, states }) - 1 : free, from: groups.length }
    groups.push(...list)
    for (const name of names) states.add(name)
    known.set(text, position)
    return position
  })
  const answers = await Promise.all(calls.map(({ groups }) => send(groups)))
  return positions.map(({ list, call, from }) => listed(answers[call]?.slice(from, from + list.length) ?? []))
}

function haveSameLimits(one: readonly CallGroup[], other: readonly CallGroup[]): boolean {
  return one.every(({ calls }, index) => calls.every(({ limit }, at) => limit === other[index]?.calls[at]?.limit))
}
