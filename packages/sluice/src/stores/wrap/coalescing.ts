import { checkOptions, CLOCK, COUNT, type Form, requireForm, STORE } from '../../errors/options.ts'
import { systemTime } from '../../time/system.ts'
import type { Time } from '../../time/time.ts'
import {
  type Call,
  type CallGroup,
  type CallOptions,
  type GroupVerdict,
  type LeaseAnswer,
  type LeaseRequest,
  type StateId,
  type Store,
  StoreFailure,
} from '../store.ts'
import { type JointBounds, JointCalls } from './joint-calls.ts'
import type { Joint } from './waiting.ts'

export interface CoalescingOptions {
  /** Most calls that travel together; default 128. */
  readonly maxCalls?: number
  /** Most calls that wait; further ones are refused as `overload`, unsent. Default 10,000. */
  readonly maxQueued?: number
  /** Source of deadlines only. */
  readonly clock?: Time
}

const FORMS: Readonly<Record<string, Form>> = { maxCalls: COUNT, maxQueued: COUNT, clock: CLOCK }

/** What is asked of one cluster slot, or of the whole store. */
interface Lane {
  readonly groups: JointCalls<CallGroup, GroupVerdict>
  readonly leases: JointCalls<LeaseRequest, LeaseAnswer>
}

/** Lanes kept before idle ones are looked for. */
const MANY_LANES = 1_024
/** How long `close` waits for answers. */
const DRAIN_MS = 5_000

/**
 * Joins calls of a store that is asked over a wire: those of one tick, and those that arrive while one is under way, travel in one call and are answered in
 * order of arrival, as if each had been made alone. Nothing under way means sent in the same tick. Where groups are atomic within a cluster slot only, those of
 * one slot travel together. A failure of the joint call is every caller's; one who leaves or runs out of time disturbs nobody. `peek`, `adjust`, `block` and
 * `reset` keep their order among calls of the same state. Calls at a time of the caller's choosing (`now`) are not joined. Bound G: that of the store.
 * @throws LimiterError INVALID_OPTIONS
 */
export function withCoalescing(store: Store, options: CoalescingOptions = {}): Store {
  requireForm('withCoalescing', 'store', store, STORE)
  checkOptions('withCoalescing', options, FORMS)
  const { maxCalls = 128, maxQueued = 10_000, clock = systemTime } = options
  // A store in this process has answered before a second call could join.
  if (store.capabilities.sync) return store
  const bounds: JointBounds = { name: store.name ?? 'store', clock, maxCalls, maxQueued, queued: 0 }
  const lease = store.lease?.bind(store)
  const adjust = store.adjust?.bind(store)
  const block = store.block?.bind(store)
  const slotOf = store.slotOf?.bind(store)
  const joined: Joint<CallGroup, GroupVerdict> = {
    send: async (groups, callOptions) => complete(bounds.name, groups, await store.consume(groups, callOptions)),
    weigh: ({ calls }) => calls.length,
    namesOf: ({ calls }) => calls.map(({ id }) => nameOf(id)),
    keyAt: ({ calls }, index) => (calls[index] as Call).id.key,
  }
  const leased: Joint<LeaseRequest, LeaseAnswer> = {
    send: async (requests, callOptions) =>
      complete(bounds.name, requests, await (lease as NonNullable<typeof lease>)(requests, callOptions)),
    weigh: () => 1,
    namesOf: ({ call }) => [nameOf(call.id)],
    keyAt: ({ call }) => call.id.key,
  }
  const lanes = new Map<number, Lane>()
  const openLane = (): Lane => ({ groups: new JointCalls(joined, bounds), leases: new JointCalls(leased, bounds) })
  const only = openLane()
  let closed = false
  const closedFailure = (): StoreFailure => new StoreFailure('unavailable', 'no', `${bounds.name}: closed`)

  const idle = ({ groups, leases }: Lane): boolean => groups.idle && leases.idle
  const laneAt = (slot: number): Lane => {
    const found = lanes.get(slot)
    if (found !== undefined) return found
    if (lanes.size >= MANY_LANES) for (const [other, lane] of lanes) if (idle(lane)) lanes.delete(other)
    const lane = openLane()
    lanes.set(slot, lane)
    return lane
  }
  /** Undefined where the states lie in several slots. */
  const laneOf = (ids: () => readonly StateId[]): Lane | undefined => {
    if (slotOf === undefined) return only
    const slot = slotOf(ids())
    return slot === undefined ? undefined : laneAt(slot)
  }
  /** Runs an operation on some states in the lane of each. */
  const inLanes = async (ids: readonly StateId[], callOptions: CallOptions | undefined, run: (places: number[]) => Promise<void>) => {
    if (closed) throw closedFailure()
    const byLane = new Map<Lane | undefined, number[]>()
    for (const [place, id] of ids.entries()) {
      const lane = laneOf(() => [id])
      byLane.set(lane, [...(byLane.get(lane) ?? []), place])
    }
    const runs = [...byLane].map(([lane, places]) => {
      const names = places.map((place) => nameOf(ids[place] as StateId))
      return lane === undefined ? run(places) : lane.groups.runAlone({ names, run: () => run(places) }, callOptions)
    })
    await Promise.all(runs)
  }
  return {
    ...(store.name === undefined ? {} : { name: store.name }),
    capabilities: store.capabilities,
    ...(slotOf === undefined ? {} : { slotOf }),
    consume(groups, callOptions) {
      if (groups.length === 0 || callOptions?.now !== undefined) return store.consume(groups, callOptions)
      if (closed) return Promise.reject(closedFailure())
      const lane = laneOf(() => idsOf(groups))
      return lane === undefined ? store.consume(groups, callOptions) : lane.groups.ask(groups, callOptions)
    },
    async peek(groups, callOptions) {
      if (closed) throw closedFailure()
      const ids = idsOf(groups)
      const lane = laneOf(() => ids)
      const run = (): Promise<readonly GroupVerdict[]> => store.peek(groups, callOptions)
      return lane === undefined ? run() : lane.groups.runAlone({ names: ids.map(nameOf), run }, callOptions)
    },
    ...(adjust === undefined
      ? {}
      : {
          adjust: (calls, amounts, callOptions) =>
            inLanes(
              calls.map(({ id }) => id),
              callOptions,
              (places) => adjust(chosen(calls, places), chosen(amounts, places), callOptions),
            ),
        }),
    ...(block === undefined
      ? {}
      : {
          block: (ids, duration, callOptions) => inLanes(ids, callOptions, (places) => block(chosen(ids, places), duration, callOptions)),
        }),
    ...(lease === undefined
      ? {}
      : {
          async lease(requests, callOptions) {
            if (requests.length === 0 || callOptions?.now !== undefined) return lease(requests, callOptions)
            if (closed) throw closedFailure()
            const lane = laneOf(() => requests.map(({ call }) => call.id))
            return lane === undefined ? lease(requests, callOptions) : lane.leases.ask(requests, callOptions)
          },
        }),
    reset: (ids, callOptions) => inLanes(ids, callOptions, (places) => store.reset(chosen(ids, places), callOptions)),
    ready: (callOptions) => store.ready(callOptions),
    async close() {
      if (!closed) {
        closed = true
        const queues = [only, ...lanes.values()].flatMap(({ groups, leases }) => [groups, leases])
        await within(DRAIN_MS, Promise.all(queues.map((queue) => queue.whenIdle())), clock)
        for (const queue of queues) queue.refuse(closedFailure())
      }
      await store.close()
    },
  }
}

/** @throws StoreFailure where somebody would not be answered */
function complete<Answer>(name: string, asked: readonly unknown[], answers: readonly Answer[]): readonly Answer[] {
  if (answers.length === asked.length) return answers
  throw new StoreFailure('protocol', 'unknown', `${name}: ${answers.length} answers to ${asked.length} questions`)
}

/** Resolves when the other does, and at the latest after so long. */
function within(ms: number, done: Promise<unknown>, clock: Time): Promise<void> {
  return new Promise((resolve) => {
    const cancel = clock.after(ms, resolve)
    void done.then(() => {
      cancel()
      resolve()
    })
  })
}

function idsOf(groups: readonly CallGroup[]): readonly StateId[] {
  return groups.flatMap(({ calls }) => calls.map(({ id }) => id))
}

/** Scopes have no blanks, so this is injective, and cheaper than the name that stores need. */
function nameOf({ scope, key }: StateId): string {
  return `${scope.text} ${key}`
}

function chosen<T>(from: readonly T[], places: readonly number[]): readonly T[] {
  return places.length === from.length ? from : places.map((place) => from[place] as T)
}
