import type { CallGroup, GroupVerdict, StateId } from '../store.ts'

/** A state's name in maps of the ring. Unique, because scopes contain no spaces; cheaper than `stateName`. */
export function nameOf({ scope, key }: StateId): string {
  return `${scope.text} ${key}`
}

/** A call of the store. */
interface StoreCall {
  readonly groups: CallGroup[]
  /** Of its states. */
  readonly names: Set<string>
}

/**
 * Peeks for several callers. Within one call of the store a group is decided as if the groups before it had been charged. That holds for
 * the list of one caller, so lists that share a state go in different calls, all at once; equal lists share the answers.
 */
export async function peekLists(
  lists: readonly (readonly CallGroup[])[],
  send: (groups: readonly CallGroup[]) => Promise<readonly GroupVerdict[]>,
): Promise<(readonly GroupVerdict[])[]> {
  const calls: StoreCall[] = []
  const known = new Map<string, { readonly list: readonly CallGroup[]; readonly call: StoreCall; readonly from: number }>()
  const places = lists.map((list) => {
    const text = list.map(({ calls: of }) => of.map(({ id, cost }) => `${nameOf(id)} ${cost}`).join('\n')).join('\n\n')
    const same = known.get(text)
    if (same !== undefined && haveSameLimits(same.list, list)) return same
    const names = list.flatMap((group) => group.calls.map(({ id }) => nameOf(id)))
    let call = calls.find((one) => !names.some((name) => one.names.has(name)))
    if (call === undefined) calls.push((call = { groups: [], names: new Set() }))
    const place = { list, call, from: call.groups.length }
    call.groups.push(...list)
    for (const name of names) call.names.add(name)
    known.set(text, place)
    return place
  })
  const verdicts = new Map(await Promise.all(calls.map(async (call) => [call, await send(call.groups)] as const)))
  return places.map(({ list, call, from }) => verdicts.get(call)?.slice(from, from + list.length) ?? [])
}

function haveSameLimits(one: readonly CallGroup[], other: readonly CallGroup[]): boolean {
  return one.every(({ calls }, index) => calls.every(({ limit }, at) => limit === other[index]?.calls[at]?.limit))
}
