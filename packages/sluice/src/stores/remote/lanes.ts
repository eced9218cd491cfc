import type { MonotonicInstant } from '../../time/time.ts'
import {
  type Call,
  type CallGroup,
  type CallOptions,
  type Change,
  type ChangeResult,
  changedState,
  type Failed,
  type GroupVerdict,
  type LeaseAnswer,
  type LeaseRequest,
  type StateId,
  StoreFailure,
} from '../store.ts'
import { sendByTarget } from './by-target.ts'
import type { Waiting } from './caller.ts'
import type { BreakerState } from './breaker.ts'
import { createLane, type Lane, type LaneParts } from './lane.ts'

/** All lanes of a store: one for each set of servers that fail together. */
export interface Lanes {
  readonly breakerState: BreakerState
  decide(groups: readonly CallGroup[], charge: boolean, waiting: Waiting, now: MonotonicInstant): Promise<readonly GroupVerdict[]>
  lease(requests: readonly LeaseRequest[], waiting: Waiting, now: MonotonicInstant): Promise<readonly (LeaseAnswer | Failed)[]>
  change(changes: readonly Change[], options: CallOptions): Promise<readonly ChangeResult[]>
  /** Waits so long for what is in flight, and fails the rest. */
  close(drainMs: number): Promise<void>
}

/** Lanes kept before idle ones are dropped. */
const MANY_LANES = 1_024
const WORST: readonly BreakerState[] = ['open', 'half-open', 'closed']

export function createLanes(parts: LaneParts): Lanes {
  const { store, clock } = parts
  const laneOf = store.laneOf?.bind(store)
  const lanes = new Map<string | number, Lane>()
  const only = createLane(parts)
  /** For groups over several servers: sent by themselves, so that one server that is away delays no other group. */
  const several = createLane({ ...parts, maxCalls: 1, maxInFlight: Number.POSITIVE_INFINITY, breaker: undefined })
  let closed: StoreFailure | undefined

  const laneAt = (name: string | number): Lane => {
    const found = lanes.get(name)
    if (found !== undefined) return found
    if (lanes.size >= MANY_LANES) for (const [other, lane] of lanes) if (lane.idle) drop(other, lane)
    const lane = createLane(parts)
    lanes.set(name, lane)
    return lane
  }
  const drop = (name: string | number, lane: Lane): void => {
    lane.close(new StoreFailure('unavailable', 'no', `${store.name}: not in use`))
    lanes.delete(name)
  }
  const laneOfGroup = ({ calls }: CallGroup): Lane => {
    const ids = calls.length === 1 ? [(calls[0] as Call).id] : calls.map(({ id }) => id)
    const name = laneOf?.(ids)
    return name === undefined ? several : laneAt(name)
  }
  /** Why a group over several servers is refused: one of them is. */
  const refusalOf = (ids: readonly StateId[]): StoreFailure | undefined => {
    for (const id of ids) {
      const name = laneOf?.([id])
      const refusal = name === undefined ? undefined : lanes.get(name)?.breaker?.refusal()
      if (refusal !== undefined) return refusal
    }
    return undefined
  }
  const all = (): readonly Lane[] => [only, several, ...lanes.values()]
  return {
    get breakerState() {
      const states = all().map(({ breaker }) => breaker?.state)
      return WORST.find((state) => states.includes(state)) ?? 'closed'
    },
    decide(groups, charge, waiting, now) {
      if (closed !== undefined) return Promise.resolve(groups.map(() => ({ failure: closed as StoreFailure })))
      if (laneOf === undefined) return only.decide(groups, charge, waiting, now)
      const refused = new Map<CallGroup, StoreFailure>()
      const laneFor = (group: CallGroup): Lane | undefined => {
        const lane = laneOfGroup(group)
        const refusal = lane === several ? refusalOf(group.calls.map(({ id }) => id)) : undefined
        if (refusal === undefined) return lane
        refused.set(group, refusal)
        return undefined
      }
      const decideIn = async (lane: Lane | undefined, some: readonly CallGroup[]): Promise<readonly GroupVerdict[]> =>
        lane === undefined
          ? some.map((group): Failed => ({ failure: refused.get(group) as StoreFailure }))
          : lane.decide(some, charge, waiting, now)
      return groups.length === 1 ? decideIn(laneFor(groups[0] as CallGroup), groups) : sendByTarget(groups, laneFor, decideIn)
    },
    lease(requests, waiting, now) {
      if (laneOf === undefined) return only.lease(requests, waiting, now)
      const laneFor = ({ call }: LeaseRequest): Lane => laneAt(laneOf([call.id]) as string | number)
      return sendByTarget(requests, laneFor, (lane, some) => lane.lease(some, waiting, now))
    },
    async change(changes, options) {
      if (closed !== undefined) return changes.map(() => ({ failure: closed as StoreFailure }))
      if (laneOf === undefined) return only.change(changes, options)
      const laneFor = (change: Change): Lane => laneAt(laneOf([changedState(change)]) as string | number)
      return sendByTarget(changes, laneFor, (lane, some) => lane.change(some, options))
    },
    async close(drainMs) {
      if (closed !== undefined) return
      closed = new StoreFailure('unavailable', 'no', `${store.name}: closed`)
      await new Promise<void>((resolve) => {
        const cancel = clock.after(drainMs, resolve)
        void Promise.all(all().map((lane) => lane.whenIdle())).then(() => {
          cancel()
          resolve()
        })
      })
      for (const lane of all()) lane.close(closed)
    },
  }
}
