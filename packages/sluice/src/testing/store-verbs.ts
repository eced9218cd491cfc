import type { MicroTokens } from '../algorithms/algorithm.ts'
import type { Call, CallGroup, CallOptions, Change, Decided, DecideOptions, GroupVerdict, StateId, Store } from '../stores/store.ts'
import type { Micros } from '../time/micros.ts'

/** Rejects with the first failure of a group. */
export async function decide(store: Store, groups: readonly CallGroup[], options?: DecideOptions): Promise<Decided[]> {
  return (await store.decide(groups, options)).map(decided)
}

/** As `decide`, without charging. */
export function peek(store: Store, groups: readonly CallGroup[], options?: CallOptions): Promise<Decided[]> {
  return decide(store, groups, { ...options, charge: false })
}

/** @throws Error if the store does not decide now, or the group's StoreFailure */
export function decideNow(store: Store, group: CallGroup, now?: Micros): Decided {
  const verdict = store.decideNow?.(group, now)
  if (verdict === undefined) throw new Error(`${store.name} did not decide now`)
  return decided(verdict)
}

/** @throws the group's StoreFailure */
export function decided(verdict: GroupVerdict | undefined): Decided {
  if (verdict === undefined) throw new Error('there is no verdict')
  if (verdict.failure !== undefined) throw verdict.failure
  return verdict
}

/** Rejects with the first failure. */
export async function change(store: Store, changes: readonly Change[], options?: CallOptions): Promise<void> {
  for (const { failure } of await store.change(changes, options)) if (failure !== undefined) throw failure
}

/** Amounts and calls have the same order. */
export function adjust(
  store: Store,
  calls: readonly Call[],
  amounts: readonly MicroTokens[],
  { receipt, ...options }: CallOptions & { readonly receipt?: Micros | undefined } = {},
): Promise<void> {
  const amountAt = (index: number): MicroTokens => amounts[index] as MicroTokens
  const changes = calls.map((call, index): Change => ({ kind: 'adjust', call, amount: amountAt(index), receipt }))
  return change(store, changes, options)
}

/** Null ends the block. */
export function block(store: Store, ids: readonly StateId[], micros: Micros | null, options?: CallOptions): Promise<void> {
  const changes = ids.map((id): Change => (micros === null ? { kind: 'unblock', id } : { kind: 'block', id, micros }))
  return change(store, changes, options)
}

/** Rejects with the first failure. */
export function reset(store: Store, ids: readonly StateId[], options?: CallOptions): Promise<void> {
  const changes = ids.map((id): Change => ({ kind: 'reset', id }))
  return change(store, changes, options)
}
