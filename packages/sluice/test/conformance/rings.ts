import { remoteStore, type RemoteStoreOptions, withDividedLimit } from '../../src/remote.ts'
import type { Store } from '../../src/stores/store.ts'

/** A commit takes its time where the disk is shared with others. */
const deadline = 10_000
const leases = { afterCalls: 1, share: 1 }
const none: RemoteStoreOptions = { deadline, batching: false, breaker: false, denials: false }

/** A store as limiters call it: first for what it decides now. */
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

/** What may be around a store. `exact`: each decision is the store's own, at its time. */
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

/** Together these use every part of the ring. `npm test` runs them, and `npm run test:stores` runs all. */
const CHOSEN = new Set(['withDividedLimit', 'ring, leases, as limiters call'])
export const [chosen, others]: readonly [readonly Around[], readonly Around[]] = [
  around.filter(([name]) => CHOSEN.has(name)),
  around.filter(([name]) => !CHOSEN.has(name)),
]
