import type { AnyLimit } from '../../../src/algorithms/algorithm.ts'
import { tokenBucket } from '../../../src/algorithms/token-bucket.ts'
import type { Call, CallOptions, GroupVerdict } from '../../../src/stores/store.ts'
import { type LeasesOptions, withLeases } from '../../../src/stores/wrap/index.ts'
import { manualClock } from '../../../src/time/manual.ts'
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

export function leaseBench(options: LeasesOptions = {}, clock = manualClock()) {
  const inner = leasingStore(clock)
  const scopes = new Map<string, { readonly text: string }>()
  const store = withLeases(inner, { afterCalls: 1, share: 0.5, clock, random: () => 0.5, ...options })
  const known = (made: Call): Call => {
    const { text } = made.id.scope
    const scope = scopes.get(text) ?? made.id.scope
    scopes.set(text, scope)
    return { ...made, id: { ...made.id, scope } }
  }
  const ask = async (made: Call, callOptions?: CallOptions): Promise<GroupVerdict> => {
    const [verdict] = await store.consume([{ calls: [known(made)] }], callOptions)
    return verdict as GroupVerdict
  }
  const group = async (...calls: Call[]): Promise<GroupVerdict> => (await store.consume([{ calls: calls.map(known) }]))[0] as GroupVerdict
  const state = (key: string): { leases?: { amount: number }[] } | undefined => inner.stateOf(known(call(key)).id) as never
  const outstanding = (key: string): number => (state(key)?.leases ?? []).reduce((sum, { amount }) => sum + amount / T, 0)
  return { clock, inner, store, ask, group, known, outstanding }
}
