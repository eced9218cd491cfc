import { remoteStore, type RemoteStoreOptions, withDividedLimit } from '../../src/remote.ts'
import type { Store } from '../../src/stores/store.ts'

/** Long, in milliseconds: a database commit may be slow on a disk that other programs use too. */
const deadline = 10_000
const leases = { afterCalls: 1, share: 1 }
const none: RemoteStoreOptions = { deadline, batching: false, breaker: false, denials: false }

/** Calls a store as limiters do: first `decideNow`, which answers without a round trip if it can, then `decide`. */
function nowFirst(store: Store): Store {
  return {
    ...store,
    async decide(groups, options) {
      const [group] = groups
      const may = group !== undefined && groups.length === 1 && options?.charge !== false && options?.signal?.aborted !== true
      const here = may && (options?.deadline ?? Infinity) > performance.now() ? store.decideNow?.(group, options?.now) : undefined
      return here === undefined ? store.decide(groups, options) : [here]
    },
  }
}

type Around = readonly [name: string, exact: boolean, wrap: (store: Store) => Store]

/** What may be around a store. `exact`: every decision is made by the store itself, at the time of the call. */
export const around: readonly Around[] = [
  ['withDividedLimit', true, (store) => withDividedLimit(store, 1)],
  ['ring of nothing', true, (store) => remoteStore(store, none)],
  ['batching', true, (store) => remoteStore(store, { ...none, batching: {} })],
  ['breaker', true, (store) => remoteStore(store, { ...none, breaker: {} })],
  ['batching, breaker', true, (store) => remoteStore(store, { deadline, denials: false })],
  ['denials', false, (store) => remoteStore(store, { ...none, denials: {} })],
  ['leases', false, (store) => remoteStore(store, { ...none, leases })],
  ['ring', false, (store) => remoteStore(store, { deadline })],
  ['ring, leases', false, (store) => remoteStore(store, { deadline, leases })],
  ['ring, leases, as limiters call', false, (store) => nowFirst(remoteStore(store, { deadline, leases }))],
]

/** These two together use every part of the ring, and `npm test` runs only them. `npm run test:stores` runs all. */
const CHOSEN = new Set(['withDividedLimit', 'ring, leases, as limiters call'])
export const [chosen, others]: readonly [readonly Around[], readonly Around[]] = [
  around.filter(([name]) => CHOSEN.has(name)),
  around.filter(([name]) => !CHOSEN.has(name)),
]
