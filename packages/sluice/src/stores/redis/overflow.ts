import { hash32 } from '../../decision/jitter.ts'
import { MICRO } from '../../algorithms/decimal.ts'
import type { Call, CallGroup, CallOptions, GroupVerdict, Scope, Store } from '../store.ts'
import { FULL, type NewKeys, type OnPressure } from './new-keys.ts'

/** States that all refused keys of a limit share. */
const SHARED = 1_024

/** A store whose groups with refused new keys become what `onPressure` says. */
export function withOverflow(store: Store, onPressure: OnPressure | undefined, isClosed: NewKeys['closed']): Store {
  const shared = createShared(store, isClosed)
  const settle = async (
    verb: 'consume' | 'peek',
    groups: readonly CallGroup[],
    options: CallOptions | undefined,
  ): Promise<readonly GroupVerdict[]> => {
    const verdicts = await store[verb](groups, options)
    const refused = verdicts.flatMap(({ degraded }, index) => (degraded === FULL ? [index] : []))
    if (refused.length === 0) return verdicts
    const settled = [...verdicts]
    for (const index of refused) {
      const group = groups[index] as CallGroup
      const canShare = onPressure === 'shared' && group.calls.every(({ limit }) => limit.algorithm.cells !== 'log')
      settled[index] = canShare
        ? await shared(verb, group, options)
        : { ...(verdicts[index] as GroupVerdict), allowed: onPressure === 'allow' }
    }
    return settled
  }
  return {
    ...store,
    consume: (groups, options) => settle('consume', groups, options),
    peek: (groups, options) => settle('peek', groups, options),
  }
}

/** Decides a group once more, with states that many keys share in the place of those that may not be made. */
function createShared(
  store: Store,
  isClosed: NewKeys['closed'],
): (verb: 'consume' | 'peek', group: CallGroup, options: CallOptions | undefined) => Promise<GroupVerdict> {
  const scopes = new Map<string, { readonly scope: Scope; readonly emptied: Set<string> }>()
  const standIn = (call: Call): { readonly call: Call; readonly emptied?: Set<string> } => {
    const { text } = call.id.scope
    // Meanwhile there may be room again.
    if (!isClosed(text)) return { call }
    const known = scopes.get(text) ?? { scope: { text: `overflow:${text}` }, emptied: new Set<string>() }
    scopes.set(text, known)
    return { call: { ...call, id: { scope: known.scope, key: String(hash32(call.id.key) % SHARED) } }, emptied: known.emptied }
  }
  return async (verb, group, options) => {
    const stands = group.calls.map(standIn)
    // They start empty, so that no flood of new keys brings a burst with it.
    const full = stands.filter(({ call, emptied }) => emptied?.has(call.id.key) === false)
    if (verb === 'consume' && full.length > 0) {
      for (const { call, emptied } of full) emptied?.add(call.id.key)
      const taken = full.map(({ call }) => -Math.round(call.limit.capacity * MICRO))
      const emptying = full.map(({ call }) => call)
      await store.adjust?.(emptying, taken, options)
    }
    const [verdict] = await store[verb]([{ ...group, calls: stands.map(({ call }) => call) }], options)
    const seen = verdict as GroupVerdict
    if (seen.degraded !== undefined || stands.every(({ emptied }) => emptied === undefined)) return seen
    const overflowed = seen.calls.some(({ outcome }, index) => outcome === 'denied' && stands[index]?.emptied !== undefined)
    return { ...seen, degraded: FULL, ...(overflowed ? { reason: 'overflow' as const } : {}) }
  }
}
