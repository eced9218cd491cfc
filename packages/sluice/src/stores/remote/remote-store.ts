import { OBJECT, requireForm, STORE } from '../../errors/options.ts'
import { MICRO } from '../../algorithms/decimal.ts'
import { createDeadlines } from '../../time/deadlines.ts'
import { systemRandom, systemTime } from '../../time/system.ts'
import type { MonotonicInstant } from '../../time/time.ts'
import {
  type CallGroup,
  type CallOptions,
  type Change,
  type ChangeResult,
  changedState,
  type GroupVerdict,
  type StateId,
  type Store,
  StoreFailure,
} from '../store.ts'
import type { BreakerOptions, BreakerState } from './breaker.ts'
import { createDenialCache } from './denial-cache.ts'
import type { Lane } from './lane.ts'
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

/** Milliseconds that a call may take if nobody says otherwise; and, while the first connection is made, from the first call on. */
const [DEFAULT_MS, STRETCHED_MS] = [50, 1_000]
const READY_MS = 5_000
/** Batches in flight at once in each lane. */
const MAX_IN_FLIGHT = 2
const LEASES: Required<LeaseOptions> = { lifeMs: 1_000, share: 0.25, afterCalls: 16, maxKeys: 10_000 }
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
  const { name } = store
  const timeouts = createDeadlines(clock)
  const deadlines = createCallDeadlines(ownMs)
  const placeMs = ownMs ?? DEFAULT_MS
  const lanes = createLanes({
    store,
    clock,
    deadlines: timeouts,
    random,
    maxCalls: batching === false ? 'alone' : (batching.maxCalls ?? 128),
    maxInFlight: batching === false ? Number.POSITIVE_INFINITY : MAX_IN_FLIGHT,
    placeMs,
    room: { queued: 0, max: batching === false ? Number.POSITIVE_INFINITY : (batching.maxQueued ?? 10_000) },
    breaker: breaker === false ? undefined : { failures: 3, windowMs: 200, probeMs: 250, deadlineMs: placeMs, ...breaker },
    onReply: deadlines.warm,
  })
  const denials =
    denialOptions === false ? undefined : createDenialCache({ clock, maxDeniedMs: 1_000, maxDenials: 10_000, ...denialOptions })
  const lease: Store['lease'] = async (requests, callOptions) => {
    if (requests.length === 0) return []
    const now = clock.monotonic()
    const timed = deadlines.of(callOptions, now)
    return lanes.send(
      requests,
      ({ call }) => [call.id],
      (lane, some) => lane.lease(some, timed, now),
    )
  }
  const leases =
    leaseOptions === false || store.lease === undefined
      ? undefined
      : createLeaseCache({
          lease,
          name,
          clock,
          random,
          ...LEASES,
          ...leaseOptions,
        })

  const charge = async (groups: readonly CallGroup[], timed: Timed, now: MonotonicInstant): Promise<readonly GroupVerdict[]> => {
    const decide = (lane: Lane, some: readonly CallGroup[]) => lane.decide(some, timed, now)
    const toStore = (some: readonly CallGroup[]) => lanes.send(some, idsOf, decide)
    const version = denials?.version ?? 0
    const verdicts = await (leases === undefined ? toStore(groups) : leases.decide(groups, timed, toStore))
    if (denials !== undefined)
      for (let index = 0; index < groups.length; index += 1)
        denials.remember(groups[index] as CallGroup, verdicts[index] as GroupVerdict, now, version)
    return verdicts
  }
  /** Calls for items whose leased tokens are back at the store. The others fail. */
  const afterReturn = async <Item, Answer>(
    items: readonly Item[],
    statesOf: (item: Item) => readonly StateId[],
    timed: Timed,
    call: (some: readonly Item[]) => Promise<readonly (Answer | { readonly failure: StoreFailure })[]>,
  ) => {
    if (leases === undefined) return call(items)
    const failed = items.map((item) => leases.giveBack(statesOf(item), timed).then(() => undefined, failureOf))
    return answerRest(items, await Promise.all(failed), call)
  }
  return {
    name,
    capabilities: ownMs === undefined ? store.capabilities : { ...store.capabilities, deadlineMs: ownMs },
    get breakerState() {
      return lanes.breakerState
    },
    get leasedTokens() {
      return (leases?.leasedTokens ?? 0) / MICRO
    },
    decideNow(group, at) {
      if (at !== undefined || (denials?.isEmpty !== false && leases === undefined)) return undefined
      const now = clock.monotonic()
      return denials?.find(group, now) ?? leases?.decideNow(group, now)
    },
    decide(groups, callOptions = {}) {
      // At a time of the caller's choosing nothing is remembered, leased or batched.
      if (groups.length === 0 || callOptions.now !== undefined) return store.decide(groups, callOptions)
      const now = clock.monotonic()
      const timed = deadlines.of(callOptions, now)
      if (callOptions.charge === false)
        return afterReturn(groups, idsOf, timed, (some) => lanes.send(some, idsOf, (lane, these) => lane.peek(these, timed, now)))
      if (denials === undefined || denials.isEmpty) return charge(groups, timed, now)
      const known = groups.map((group) => denials.find(group, now))
      return answerRest<CallGroup, GroupVerdict>(groups, known, (rest) => charge(rest, timed, now))
    },
    async change(changes: readonly Change[], callOptions: CallOptions = {}): Promise<readonly ChangeResult[]> {
      if (changes.length === 0) return []
      if (callOptions.now !== undefined) return store.change(changes, callOptions)
      const idOf = (change: Change) => [changedState(change)]
      const timed = deadlines.of(callOptions, clock.monotonic())
      denials?.forget(changes.map(changedState))
      try {
        return await afterReturn(changes, idOf, timed, (some) => lanes.send(some, idOf, (lane, these) => lane.change(these, timed)))
      } finally {
        denials?.forget(changes.map(changedState))
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

type Timed = CallOptions & { readonly deadline: MonotonicInstant }

/** The deadlines of calls: hard, unless they are built in and the first connection is being made. */
function createCallDeadlines(ownMs: number | undefined) {
  let isWarm = false
  let until: MonotonicInstant | undefined
  const deadlineOf = (given: MonotonicInstant | undefined, isDefault: boolean, now: MonotonicInstant): MonotonicInstant => {
    if (ownMs !== undefined) return isDefault ? now + ownMs : Math.min(given ?? now, now + ownMs)
    const usual = given ?? now + DEFAULT_MS
    return isDefault && !isWarm ? Math.max(usual, (until ??= now + STRETCHED_MS)) : usual
  }
  return {
    of(options: CallOptions | undefined, now: MonotonicInstant): Timed {
      const { deadline, stretch, signal } = options ?? {}
      const timed = { deadline: deadlineOf(deadline, deadline === undefined || stretch === true, now) }
      return signal === undefined ? timed : { ...timed, signal }
    },
    /** The server has answered or failed: built-in deadlines are extended no more. */
    warm(): void {
      isWarm = true
    },
  }
}

/** The answers to all items, calling for those that have none yet. */
async function answerRest<Item, Answer>(
  items: readonly Item[],
  known: readonly (Answer | undefined)[],
  call: (rest: readonly Item[]) => Promise<readonly Answer[]>,
): Promise<readonly Answer[]> {
  const rest = items.filter((_, index) => known[index] === undefined)
  const answers = (rest.length === 0 ? [] : await call(rest)).values()
  return known.map((answer) => answer ?? (answers.next().value as Answer))
}

function idsOf({ calls }: CallGroup): readonly StateId[] {
  return calls.map(({ id }) => id)
}

function failureOf(error: unknown): { readonly failure: StoreFailure } {
  if (error instanceof StoreFailure) return { failure: error }
  throw error
}
