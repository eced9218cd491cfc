import type { MicroTokens } from '../algorithms/algorithm.ts'
import type { Call, CallGroup, CallOptions, Change, Decided, DecideOptions, GroupVerdict, StateId, Store } from '../stores/store.ts'
import type { Micros } from '../time/micros.ts'

/** Calls the store's `decide`. Unlike it, rejects with the first failure of a group. */
export async function decide(store: Store, groups: readonly CallGroup[], options?: DecideOptions): Promise<Decided[]> {
  return (await store.decide(groups, options)).map(decided)
}

/** Calls the store's `decide` without charging. Rejects with the first failure of a group. */
export function peek(store: Store, groups: readonly CallGroup[], options?: CallOptions): Promise<Decided[]> {
  return decide(store, groups, { ...options, charge: false })
}

/** Calls the store's `decideNow`. @throws Error if the store does not decide now, or the StoreFailure of a group that failed */
export function decideNow(store: Store, group: CallGroup, now?: Micros): Decided {
  const verdict = store.decideNow?.(group, now)
  if (verdict === undefined) throw new Error(`${store.name} did not decide now`)
  return decided(verdict)
}

/** Returns the verdict of a group that was decided. @throws StoreFailure of a group that failed */
export function decided(verdict: GroupVerdict | undefined): Decided {
  if (verdict === undefined) throw new Error('there is no verdict')
  if (verdict.failure !== undefined) throw verdict.failure
  return verdict
}

/** Makes changes; rejects with the first failure. */
export async function change(store: Store, changes: readonly Change[], options?: CallOptions): Promise<void> {
  for (const { failure } of await store.change(changes, options)) if (failure !== undefined) throw failure
}

/** Adjusts the state of each call by the amount with the same index. */
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

/** Blocks the states for this long; null ends the block. */
export function block(store: Store, ids: readonly StateId[], micros: Micros | null, options?: CallOptions): Promise<void> {
  const changes = ids.map((id): Change => (micros === null ? { kind: 'unblock', id } : { kind: 'block', id, micros }))
  return change(store, changes, options)
}

/** Deletes the states; rejects with the first failure. */
export function reset(store: Store, ids: readonly StateId[], options?: CallOptions): Promise<void> {
  const changes = ids.map((id): Change => ({ kind: 'reset', id }))
  return change(store, changes, options)
}
