import type { AnyLimit } from '../../../src/algorithms/algorithm.ts'
import { tokenBucket } from '../../../src/algorithms/token-bucket.ts'
import type { LeaseCacheOptions } from '../../../src/stores/remote/lease-cache.ts'
import type { Call, CallGroup, CallOptions, Decided, Store } from '../../../src/stores/store.ts'
import * as verbs from '../../../src/testing/store-verbs.ts'
import { manualClock } from '../../../src/time/manual.ts'
import { leased } from './leased.ts'
import { leasingStore } from './leasing-store.ts'

export const hundred = tokenBucket({ rate: '100/s', burst: 100 })
/** Micro-tokens of a token. */
export const T = 1_000_000
export const call = (key: string, limit: AnyLimit = hundred, cost = 1): Call => ({
  id: { scope: { text: `l:${limit.algorithm.tag}:` }, key },
  limit,
  cost: cost * T,
  phase: 0,
})
/** A verdict with its default source. */
export type Sourced = Decided & Required<Pick<Decided, 'source'>>
/** Decides groups; rejects with the first failure. */
export async function decide(store: Store, groups: readonly CallGroup[], options?: CallOptions): Promise<Sourced[]> {
  return (await verbs.decide(store, groups, options)).map((verdict) => ({ ...verdict, source: verdict.source ?? 'store' }))
}

export function leaseBench(options: Partial<LeaseCacheOptions> = {}, clock = manualClock()) {
  const inner = leasingStore(clock)
  const scopes = new Map<string, { readonly text: string }>()
  const store = leased(inner, { afterCalls: 1, share: 0.5, clock, ...options })
  const known = (made: Call): Call => {
    const { text } = made.id.scope
    const scope = scopes.get(text) ?? made.id.scope
    scopes.set(text, scope)
    return { ...made, id: { ...made.id, scope } }
  }
  const group = async (...calls: Call[]): Promise<Sourced> => (await decide(store, [{ calls: calls.map(known) }]))[0] as Sourced
  const ask = (made: Call): Promise<Sourced> => group(made)
  const state = (key: string): { leases?: { amount: number }[] } | undefined => inner.stateOf(known(call(key)).id) as never
  const outstanding = (key: string): number => (state(key)?.leases ?? []).reduce((sum, { amount }) => sum + amount / T, 0)
  return { clock, inner, store, ask, group, known, outstanding }
}
