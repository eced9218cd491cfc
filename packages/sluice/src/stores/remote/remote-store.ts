import { OBJECT, requireForm, STORE } from '../../errors/options.ts'
import type { Store } from '../store.ts'
import type { BreakerChange, BreakerOptions, BreakerState } from './breaker.ts'
import { type BatchingOptions, checkRingOptions, type DenialOptions, type LeaseOptions, type RemoteStoreOptions } from './options.ts'
import { createRing, type RemoteStore } from './ring.ts'

export type { BatchingOptions, BreakerChange, BreakerOptions, BreakerState, DenialOptions, LeaseOptions, RemoteStore, RemoteStoreOptions }

/** The inner store of each ring, so that a second ring replaces the first. Not a property: a changed copy of a ring is no ring. */
const INNER = new WeakMap<Store, Store>()

/**
 * Puts a ring around a store over a network: cached denials, leased tokens, circuit breakers and batches. It adds no over-grant. A store in
 * this process gets no ring, and a second ring replaces the first.
 * @throws LimiterError INVALID_OPTIONS
 */
export function remoteStore(store: Store, options: RemoteStoreOptions = {}): RemoteStore {
  requireForm('remoteStore', 'store', store, STORE)
  const deadlineMs = checkRingOptions('remoteStore', options)
  const inner = INNER.get(store) ?? store
  if (inner.capabilities.sync) return withoutRing(inner)
  const ring = createRing(inner, options, deadlineMs)
  INNER.set(ring, inner)
  return ring
}

/** The same as `remoteStore`, whose defaults are the recommended settings. */
export function resilient(store: Store, options: RemoteStoreOptions = {}): RemoteStore {
  return remoteStore(store, options)
}

type Ports = Pick<RemoteStoreOptions, 'clock' | 'random'>

/** A ring that only batches. */
export function withCoalescing(store: Store, batching: BatchingOptions & Pick<Ports, 'clock'> = {}): RemoteStore {
  return only(store, 'batching', batching)
}

/** A ring with only breakers. */
export function withBreaker(store: Store, breaker: BreakerOptions & Ports = {}): RemoteStore {
  return only(store, 'breaker', breaker)
}

/** A ring that only remembers denials. */
export function withDeniedCache(store: Store, denials: DenialOptions & Pick<Ports, 'clock'> = {}): RemoteStore {
  return only(store, 'denials', denials)
}

/** A ring that only leases tokens. */
export function withLeases(store: Store, leases: LeaseOptions & Ports = {}): RemoteStore {
  return only(store, 'leases', leases)
}

function only(store: Store, part: string, options: object): RemoteStore {
  requireForm('remoteStore', part, options, OBJECT)
  const { clock, random, ...chosen } = options as Ports
  const nothing = { batching: false, breaker: false, denials: false, leases: false } as const
  const ports = { ...(clock === undefined ? {} : { clock }), ...(random === undefined ? {} : { random }) }
  return remoteStore(store, { ...nothing, ...ports, [part]: chosen })
}

function withoutRing(store: Store): RemoteStore {
  return {
    name: store.name,
    capabilities: store.capabilities,
    breakerState: 'closed',
    leasedTokens: 0,
    decide: (groups, options) => store.decide(groups, options),
    decideNow: (group, now) => store.decideNow?.(group, now),
    change: (changes, options) => store.change(changes, options),
    ready: (options) => store.ready(options),
    close: () => store.close(),
  }
}
