import { MICRO } from '../../algorithms/decimal.ts'
import { type Complete, withDefaults } from '../../errors/options.ts'
import { createDeadlines } from '../../time/deadlines.ts'
import { systemRandom, systemTime } from '../../time/system.ts'
import type { MonotonicInstant } from '../../time/time.ts'
import { type CallGroup, type CallOptions, type Failed, failedBy, type GroupVerdict, type Store } from '../store.ts'
import type { BreakerOptions, BreakerState } from './breaker.ts'
import { DenialCache } from './denial-cache.ts'
import { CHANGE, DECIDE, LEASE, PEEK, type Verb } from './lane.ts'
import { createLanes } from './lanes.ts'
import { LeaseCache } from './lease-cache.ts'
import type { DenialOptions, LeaseOptions, RemoteStoreOptions } from './options.ts'
import type { Waiting } from './queue.ts'

/** A store with a ring around it. */
export interface RemoteStore extends Store {
  /** The worst state of the breakers of all servers: `open`, then `half-open`, then `closed`. */
  readonly breakerState: BreakerState
  /** Tokens leased to this process now, over all keys. */
  readonly leasedTokens: number
}

/** Milliseconds. While the first connection is made, default deadlines are at least STRETCHED_MS after the first call. */
const [DEFAULT_MS, STRETCHED_MS] = [50, 1_000]
const READY_MS = 5_000
/** The most milliseconds that `close` waits: for answers, and for returned leases. */
const [DRAIN_MS, GIVE_BACK_MS] = [5_000, 1_000]
const MAX_IN_FLIGHT = 2
const NO_BOUND = Number.POSITIVE_INFINITY
const NONE: readonly (GroupVerdict | undefined)[] = []

type RingParts = ReturnType<typeof createParts>

export function createRing(store: Store, options: RemoteStoreOptions, ownMs: number | undefined): RemoteStore {
  const parts = createParts(store, options, ownMs)
  const { clock, deadlines, denials, lanes, leases } = parts
  return {
    name: store.name,
    capabilities: ownMs === undefined ? store.capabilities : { ...store.capabilities, deadlineMs: ownMs },
    get breakerState() {
      return lanes.breakerState
    },
    get leasedTokens() {
      return (leases?.leasedTokens ?? 0) / MICRO
    },
    decideNow(group, at) {
      if (at !== undefined || group.options !== undefined || (denials.isEmpty && leases === undefined)) return undefined
      const now = clock.monotonic()
      return denials.find(group, now) ?? leases?.decideNow(group, now)
    },
    decide(groups, callOptions = {}) {
      // With a given time (`now`), nothing is remembered, leased or batched.
      if (groups.length === 0 || callOptions.now !== undefined) return store.decide(groups, callOptions)
      const now = clock.monotonic()
      const timed = deadlines.of(callOptions, now)
      if (callOptions.charge === false) return afterReturn(parts, PEEK, groups, timed)
      // Groups with options may wait for tokens or take holds, which cached denials and leased tokens cannot decide.
      if (groups.some(hasOptions)) return afterReturn(parts, DECIDE, groups, timed)
      const known = denials.isEmpty ? NONE : groups.map((group) => denials.find(group, now))
      const rest = denials.isEmpty ? groups : groups.filter((_, index) => known[index] === undefined)
      if (rest.length === 0) return Promise.resolve(known as readonly GroupVerdict[])
      const { version } = denials
      const answered =
        leases === undefined ? lanes.send(DECIDE, rest, timed) : leases.decide(rest, timed, (some) => lanes.send(DECIDE, some, timed))
      return answered.then((verdicts) => {
        rest.forEach((group, index) => denials.remember(group, verdicts[index] as GroupVerdict, now, version))
        return rest.length === groups.length ? verdicts : filled(known, verdicts)
      })
    },
    async change(changes, callOptions = {}) {
      if (changes.length === 0) return []
      if (callOptions.now !== undefined) return store.change(changes, callOptions)
      const timed = deadlines.of(callOptions, clock.monotonic())
      denials.forgetChanged(changes)
      try {
        return await afterReturn(parts, CHANGE, changes, timed)
      } finally {
        denials.forgetChanged(changes)
      }
    },
    ...(parts.lease && { lease: parts.lease }),
    ...(store.laneOf && { laneOf: store.laneOf.bind(store) }),
    ready: (callOptions) => store.ready({ ...callOptions, deadline: callOptions?.deadline ?? clock.monotonic() + READY_MS }),
    async close() {
      await leases?.close({ deadline: clock.monotonic() + GIVE_BACK_MS })
      denials.clear()
      await lanes.close(DRAIN_MS)
      await store.close()
    },
  }
}

function createParts(store: Store, options: RemoteStoreOptions, ownMs: number | undefined) {
  const { batching = {}, breaker = {}, denials = {}, leases = false, clock = systemTime, random = systemRandom } = options
  const deadlines = createCallDeadlines(ownMs)
  const slotMs = ownMs ?? DEFAULT_MS
  const { maxCalls = 128, maxQueued = 10_000 } = batching || {}
  const lanes = createLanes({
    store,
    clock,
    deadlines: createDeadlines(clock),
    random,
    maxCalls: batching === false ? 'alone' : maxCalls,
    maxInFlight: batching === false ? NO_BOUND : MAX_IN_FLIGHT,
    slotMs,
    room: { queued: 0, max: batching === false ? NO_BOUND : maxQueued },
    breaker:
      breaker === false
        ? undefined
        : withDefaults<Complete<BreakerOptions>>(
            { failures: 3, windowMs: 200, probeMs: 250, deadlineMs: slotMs, onChange: () => {} },
            breaker,
          ),
    onReply: deadlines.warm,
  })
  const lease: Store['lease'] =
    store.lease &&
    (async (requests, callOptions) =>
      requests.length === 0 ? [] : lanes.send(LEASE, requests, deadlines.of(callOptions, clock.monotonic())))
  return {
    clock,
    deadlines,
    lanes,
    lease,
    // With `denials: false`, a denial is remembered for 0 ms.
    denials: new DenialCache({
      clock,
      ...withDefaults<Complete<DenialOptions>>({ maxDeniedMs: denials === false ? 0 : 1_000, maxDenials: 10_000 }, denials || {}),
    }),
    leases:
      leases === false || lease === undefined
        ? undefined
        : new LeaseCache({
            lease,
            name: store.name,
            clock,
            random,
            ...withDefaults<Complete<LeaseOptions>>({ lifeMs: 1_000, share: 0.25, afterCalls: 16, maxKeys: 10_000 }, leases),
          }),
  }
}

function hasOptions({ options }: CallGroup): boolean {
  return options !== undefined
}

/** Sends each item once the leased tokens of its states are given back. If that fails, so does the item. */
function afterReturn<Item, Answer>(
  parts: RingParts,
  verb: Verb<Item, Answer>,
  items: readonly Item[],
  timed: Waiting,
): Promise<readonly (Answer | Failed)[]> {
  return parts.leases === undefined ? parts.lanes.send(verb, items, timed) : givingBack(parts, parts.leases, verb, items, timed)
}

async function givingBack<Item, Answer>(
  { lanes }: RingParts,
  leases: LeaseCache,
  verb: Verb<Item, Answer>,
  items: readonly Item[],
  timed: Waiting,
): Promise<readonly (Answer | Failed)[]> {
  const failed = await Promise.all(items.map((item) => leases.giveBack(verb.idsOf(item), timed).then(() => undefined, failedBy)))
  const rest = items.filter((_, index) => failed[index] === undefined)
  return filled<Answer | Failed>(failed, rest.length === 0 ? [] : await lanes.send(verb, rest, timed))
}

/** Fills the gaps of `known` with `rest`, in order. */
function filled<Answer>(known: readonly (Answer | undefined)[], rest: readonly Answer[]): readonly Answer[] {
  const answers = rest.values()
  return known.map((answer) => answer ?? (answers.next().value as Answer))
}

/** Only default deadlines are extended, while the first connection is made. */
function createCallDeadlines(ownMs: number | undefined) {
  let isWarm = false
  let until: MonotonicInstant | undefined
  return {
    of({ deadline, stretch, signal }: CallOptions = {}, since: MonotonicInstant): Waiting {
      const isDefault = deadline === undefined || stretch === true
      let at = deadline ?? since + DEFAULT_MS
      if (ownMs !== undefined) at = isDefault ? since + ownMs : Math.min(at, since + ownMs)
      else if (isDefault && !isWarm) at = Math.max(at, (until ??= since + STRETCHED_MS))
      return signal === undefined ? { since, deadline: at } : { since, deadline: at, signal }
    },
    warm(): void {
      isWarm = true
    },
  }
}
