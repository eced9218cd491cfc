import { type CallGroup, type Failed, type GroupVerdict, nameOf } from '../store.ts'
import { isUnsent } from './batcher.ts'

/** The verdicts of one list of peeks; or a failure, if none of it was executed. */
export type Peeked = { readonly verdicts: readonly GroupVerdict[]; readonly failure?: undefined } | Failed

/**
 * Peeks for several callers. Within one call of the store a group is decided as if the groups before it had been charged. That holds for
 * the list of one caller, so lists that share a state go in different calls, all at once; equal lists share the answers.
 */
export async function peekLists(
  lists: readonly (readonly CallGroup[])[],
  send: (groups: readonly CallGroup[]) => Promise<readonly GroupVerdict[]>,
): Promise<readonly Peeked[]> {
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
  return positions.map(({ list, call, from }) => {
    const verdicts = answers[call]?.slice(from, from + list.length) ?? []
    const failure = verdicts.every((verdict) => verdict.failure !== undefined && isUnsent(verdict.failure))
      ? verdicts[0]?.failure
      : undefined
    return failure === undefined ? { verdicts } : { failure }
  })
}

/** What its caller gets. */
export function verdictsOf(peeked: Peeked | undefined, groups: readonly CallGroup[]): readonly GroupVerdict[] {
  return peeked?.failure === undefined ? (peeked?.verdicts ?? []) : groups.map(() => peeked)
}

function haveSameLimits(one: readonly CallGroup[], other: readonly CallGroup[]): boolean {
  return one.every(({ calls }, index) => calls.every(({ limit }, at) => limit === other[index]?.calls[at]?.limit))
}
