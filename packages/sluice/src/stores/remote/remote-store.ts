import { OBJECT, requireForm, STORE } from '../../errors/options.ts'
import { MICRO } from '../../algorithms/decimal.ts'
import { systemRandom, systemTime } from '../../time/system.ts'
import type { MonotonicInstant } from '../../time/time.ts'
import {
  type CallGroup,
  type CallOptions,
  type Change,
  type ChangeResult,
  changedState,
  type DecideOptions,
  type GroupVerdict,
  type LeaseAnswer,
  type LeaseRequest,
  type StateId,
  type Store,
  StoreFailure,
} from '../store.ts'
import type { BreakerOptions, BreakerState } from './breaker.ts'
import { createDeadlines, DEFAULT_MS } from './deadline.ts'
import { createDenialCache } from './denial-cache.ts'
import { createLanes } from './lanes.ts'
import { createLeaseCache } from './lease-cache.ts'
import {
  type BatchingOptions,
  checkRingOptions,
  deadlineMsOf,
  type DenialOptions,
  type LeaseOptions,
  type RemoteStoreOptions,
} from './options.ts'

export type { BatchingOptions, BreakerOptions, BreakerState, DenialOptions, LeaseOptions, RemoteStoreOptions }

const READY_MS = 5_000
/** Batches in flight at once in each lane. */
const MAX_IN_FLIGHT = 2
/** How long `close` waits for answers, and for leases that are given back. */
const [DRAIN_MS, GIVE_BACK_MS] = [5_000, 1_000]

export interface RemoteStore extends Store {
  /** The worst state of all servers' breakers. */
  readonly breakerState: BreakerState
  /** Tokens leased to this process now, over all keys. */
  readonly leasedTokens: number
}

/** The inner store of each ring, so that a second ring replaces the first; not a property, which a copy of the ring would have too. */
const INNER = new WeakMap<Store, Store>()

/**
 * The ring around a store over a wire: denials that are remembered, tokens that are leased, a breaker for each server, and batches. Bound
 * G: that of the store. A store in this process gets no ring, and a store that has one gets this one instead.
 * @throws LimiterError INVALID_OPTIONS
 */
export function remoteStore(store: Store, options: RemoteStoreOptions = {}): RemoteStore {
  requireForm('remoteStore', 'store', store, STORE)
  checkRingOptions('remoteStore', options)
  const inner = INNER.get(store) ?? store
  const ownMs = deadlineMsOf(options)
  if (inner.capabilities.sync) return withoutRing(inner)
  const ring = ringAround(inner, options, ownMs)
  INNER.set(ring, inner)
  return ring
}

/** `remoteStore` with its recommended settings, which are its defaults. */
export function resilient(store: Store, options: RemoteStoreOptions = {}): RemoteStore {
  return remoteStore(store, options)
}

const NOTHING: RemoteStoreOptions = { batching: false, breaker: false, denials: false, leases: false }

/** A ring that only batches. */
export function withCoalescing(store: Store, batching: BatchingOptions & Pick<RemoteStoreOptions, 'clock'> = {}): RemoteStore {
  return only(store, 'batching', batching)
}

/** A ring with only breakers. */
export function withBreaker(store: Store, breaker: BreakerOptions & Pick<RemoteStoreOptions, 'clock' | 'random'> = {}): RemoteStore {
  return only(store, 'breaker', breaker)
}

/** A ring that only remembers denials. */
export function withDeniedCache(store: Store, denials: DenialOptions & Pick<RemoteStoreOptions, 'clock'> = {}): RemoteStore {
  return only(store, 'denials', denials)
}

/** A ring that only leases tokens. */
export function withLeases(store: Store, leases: LeaseOptions & Pick<RemoteStoreOptions, 'clock' | 'random'> = {}): RemoteStore {
  return only(store, 'leases', leases)
}

function only(store: Store, part: string, options: object): RemoteStore {
  requireForm('remoteStore', part, options, OBJECT)
  const { clock, random, ...chosen } = options as RemoteStoreOptions
  return remoteStore(store, { ...NOTHING, ...(clock !== undefined && { clock }), ...(random !== undefined && { random }), [part]: chosen })
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

function ringAround(store: Store, options: RemoteStoreOptions, ownMs: number | undefined): RemoteStore {
  const { batching = {}, breaker = {}, denials: denialOptions = {}, leases: leaseOptions = false } = options
  const { clock = systemTime, random = systemRandom } = options
  const { name, capabilities } = store
  const deadlines = createDeadlines(ownMs)
  const lanes = createLanes({
    store,
    clock,
    random,
    maxCalls: batching === false ? 'alone' : (batching.maxCalls ?? 128),
    maxInFlight: batching === false ? Number.POSITIVE_INFINITY : MAX_IN_FLIGHT,
    room: { queued: 0, max: batching === false ? Number.POSITIVE_INFINITY : (batching.maxQueued ?? 10_000) },
    breaker: breaker === false ? undefined : { failures: 3, windowMs: 200, probeMs: 250, deadlineMs: ownMs ?? DEFAULT_MS, ...breaker },
    onReply: deadlines.warm,
  })
  const denials =
    denialOptions === false ? undefined : createDenialCache({ clock, maxDeniedMs: 1_000, maxDenials: 10_000, ...denialOptions })
  const leases =
    leaseOptions === false || store.lease === undefined
      ? undefined
      : createLeaseCache({ lease, name, clock, random, lifeMs: 1_000, share: 0.25, afterCalls: 16, maxKeys: 10_000, ...leaseOptions })

  async function lease(requests: readonly LeaseRequest[], callOptions?: CallOptions): Promise<readonly LeaseAnswer[]> {
    if (requests.length === 0) return []
    const now = clock.monotonic()
    const answers = await lanes.lease(requests, { ...callOptions, deadline: deadlines.of(callOptions, now) }, now)
    for (const { failure } of answers as readonly { readonly failure?: StoreFailure }[]) if (failure !== undefined) throw failure
    return answers as readonly LeaseAnswer[]
  }
  const ask = async (groups: readonly CallGroup[], callOptions: DecideOptions & { deadline: MonotonicInstant }, now: MonotonicInstant) => {
    const toStore = (some: readonly CallGroup[]): Promise<readonly GroupVerdict[]> => lanes.decide(some, true, callOptions, now)
    if (denials === undefined) return leases === undefined ? toStore(groups) : leases.decide(groups, callOptions, toStore)
    const { version } = denials
    const verdicts = await (leases === undefined ? toStore(groups) : leases.decide(groups, callOptions, toStore))
    for (let index = 0; index < groups.length; index += 1)
      denials.remember(groups[index] as CallGroup, verdicts[index] as GroupVerdict, now, version)
    return verdicts
  }
  const peek = async (groups: readonly CallGroup[], callOptions: DecideOptions & { deadline: MonotonicInstant }, now: MonotonicInstant) => {
    await leases?.giveBack(idsOf(groups), callOptions)
    return lanes.decide(groups, false, callOptions, now)
  }
  return {
    name,
    capabilities,
    get breakerState() {
      return lanes.breakerState
    },
    get leasedTokens() {
      return (leases?.leasedTokens ?? 0) / MICRO
    },
    decideNow(group, at) {
      if (at !== undefined) return undefined
      if (denials?.isEmpty !== false && leases === undefined) return undefined
      const now = clock.monotonic()
      return denials?.find(group, now) ?? leases?.decideNow(group, now)
    },
    decide(groups, callOptions = {}) {
      // At a time of the caller's choosing nothing is remembered, leased or batched.
      if (groups.length === 0 || callOptions.now !== undefined) return store.decide(groups, callOptions)
      const now = clock.monotonic()
      const timed = { ...callOptions, deadline: deadlines.of(callOptions, now) }
      if (callOptions.charge === false) return peek(groups, timed, now)
      if (denials === undefined || denials.isEmpty) return ask(groups, timed, now)
      const known = groups.map((group) => denials.find(group, now))
      const rest = groups.filter((_, index) => known[index] === undefined)
      if (rest.length === groups.length) return ask(groups, timed, now)
      return (rest.length === 0 ? Promise.resolve([]) : ask(rest, timed, now)).then((verdicts) => {
        let next = 0
        return known.map((denial) => denial ?? (verdicts[next++] as GroupVerdict))
      })
    },
    async change(changes: readonly Change[], callOptions: CallOptions = {}): Promise<readonly ChangeResult[]> {
      if (changes.length === 0) return []
      if (callOptions.now !== undefined) return store.change(changes, callOptions)
      const ids = changes.map(changedState)
      const timed = { ...callOptions, deadline: deadlines.of(callOptions, clock.monotonic()) }
      denials?.forget(ids)
      try {
        await leases?.giveBack(ids, timed)
        return await lanes.change(changes, timed)
      } catch (error) {
        if (!(error instanceof StoreFailure)) throw error
        return changes.map(() => ({ failure: error }))
      } finally {
        denials?.forget(ids)
      }
    },
    ...(store.lease === undefined ? {} : { lease }),
    ...(store.laneOf === undefined ? {} : { laneOf: store.laneOf.bind(store) }),
    ready: (callOptions) => store.ready({ ...callOptions, deadline: callOptions?.deadline ?? clock.monotonic() + READY_MS }),
    async close() {
      await leases?.close({ deadline: clock.monotonic() + GIVE_BACK_MS }).catch(() => {})
      denials?.clear()
      await lanes.close(DRAIN_MS)
      await store.close()
    },
  }
}

function idsOf(groups: readonly CallGroup[]): readonly StateId[] {
  return groups.flatMap(({ calls }) => calls.map(({ id }) => id))
}
