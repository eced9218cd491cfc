import { refusedBy } from '../limiter/decide.ts'
import type { CallGroup, CallOptions, GroupVerdict, Store } from '../stores/store.ts'

/** The stores that decide: the policy's, and the one in this process that stands in where the policy says `local`. */
export interface Stores {
  readonly store: Store
  readonly local?: Store
}

/**
 * Asks the store; a group it could not decide becomes what its failure policy says. What a wrapper has already stood in for
 * (source `fallback`) is left as it is. Rejects only for defects, never with a StoreFailure.
 */
export async function askStore(
  stores: Stores,
  verb: 'consume' | 'peek',
  groups: readonly CallGroup[],
  options: CallOptions,
): Promise<readonly GroupVerdict[]> {
  const verdicts = await ask(stores.store, verb, groups, options)
  if (verdicts.every(({ outcome }) => outcome !== 'undecided')) return verdicts
  return Promise.all(
    verdicts.map(async (verdict, index) =>
      verdict.outcome === 'undecided' && verdict.source === 'store'
        ? standIn(stores, verb, groups[index] as CallGroup, verdict, options)
        : verdict,
    ),
  )
}

async function standIn(
  { local }: Stores,
  verb: 'consume' | 'peek',
  group: CallGroup,
  verdict: GroupVerdict,
  options: CallOptions,
): Promise<GroupVerdict> {
  if (group.onFailure === 'allow') return { ...verdict, allowed: true, source: 'fallback' }
  if (group.onFailure !== 'local' || local === undefined) return verdict
  const [answer = verdict] = await ask(local, verb, [group], options)
  return { ...answer, source: 'fallback', ...(verdict.degraded === undefined ? {} : { degraded: verdict.degraded }) }
}

async function ask(
  store: Store,
  verb: 'consume' | 'peek',
  groups: readonly CallGroup[],
  options: CallOptions,
): Promise<readonly GroupVerdict[]> {
  try {
    return await store[verb](groups, options)
  } catch (error) {
    return groups.map(() => refusedBy(error))
  }
}
