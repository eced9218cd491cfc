import { type Failed, type StateId, StoreFailure } from '../store.ts'
import type { Time } from '../../time/time.ts'
import type { BreakerState } from './breaker.ts'
import { Lane, type LaneParts, sendByTarget, type Verb } from './lane.ts'
import type { Waiting } from './queue.ts'
import { paceRefusals } from './watch.ts'

type Answers<Answer> = Promise<readonly (Answer | Failed)[]>

/** From this many lanes on, idle ones are dropped first. */
const MANY_LANES = 1_024
const WORST: readonly BreakerState[] = ['open', 'half-open', 'closed']

/** One lane for each set of servers that fail together. */
export function createLanes(options: Omit<LaneParts, 'onIdle' | 'pace' | 'lane'>) {
  const { store, clock } = options
  const laneOf = store.laneOf?.bind(store)
  let onIdle = (): void => {}
  const pace = paceRefusals(clock)
  const parts = { ...options, onIdle: () => onIdle(), pace, lane: undefined }
  const only = new Lane(parts)
  /** A group with states on several servers is sent alone, so that a silent server delays no other. */
  const several = new Lane({ ...parts, maxCalls: 1, maxInFlight: Number.POSITIVE_INFINITY, breaker: undefined })
  const lanes = new Map<string | number, Lane>()
  let closed: StoreFailure | undefined

  const laneAt = (name: string | number): Lane => {
    const found = lanes.get(name)
    if (found !== undefined) return found
    if (lanes.size >= MANY_LANES) dropIdle(lanes, store.name)
    const lane = new Lane({ ...parts, lane: name })
    lanes.set(name, lane)
    return lane
  }
  const open = (lane: Lane): Lane | StoreFailure => closed ?? lane.breaker?.refusal() ?? lane
  /** States on several servers are refused if the breaker of any of these servers is open. */
  const targetOf = (ids: readonly StateId[]): Lane | StoreFailure => {
    const name = laneOf?.(ids)
    if (name !== undefined) return open(laneAt(name))
    const targets = ids.map((id) => open(lanes.get(laneOf?.([id]) ?? '') ?? several))
    return targets.find((target) => target instanceof StoreFailure) ?? several
  }
  const all = (): readonly Lane[] => [only, several, ...lanes.values()]
  return {
    get breakerState(): BreakerState {
      const states = all().map(({ breaker }) => breaker?.state)
      return WORST.find((state) => states.includes(state)) ?? 'closed'
    },
    send<Item, Answer>(verb: Verb<Item, Answer>, items: readonly Item[], caller: Waiting): Answers<Answer> {
      if (laneOf !== undefined && items.length > 1) {
        const laneFor = (item: Item): Lane | StoreFailure => targetOf(verb.idsOf(item))
        return sendByTarget(items, laneFor, (target, some): Answers<Answer> =>
          target instanceof StoreFailure ? refuse(target, some, pace()) : verb.send.call(target, some, caller),
        )
      }
      const target = laneOf === undefined ? open(only) : targetOf(verb.idsOf(items[0] as Item))
      return target instanceof StoreFailure ? refuse(target, items, pace()) : verb.send.call(target, items, caller)
    },
    /** Waits at most `drainMs` milliseconds for calls, then fails the rest. */
    async close(drainMs: number): Promise<void> {
      if (closed !== undefined) return
      closed = new StoreFailure('unavailable', 'no', `${store.name}: closed`)
      await idleWithin(clock, drainMs, all, (check) => (onIdle = check))
      for (const lane of all()) lane.close(closed)
    },
  }
}

/** @param watch gets a check, to be called whenever a lane becomes idle */
function idleWithin(clock: Time, drainMs: number, all: () => readonly Lane[], watch: (check: () => void) => void): Promise<void> {
  return new Promise<void>((resolve) => {
    const cancel = clock.after(drainMs, resolve)
    const check = (): void => {
      if (!all().every(({ idle }) => idle)) return
      cancel()
      resolve()
    }
    watch(check)
    check()
  })
}

function dropIdle(lanes: Map<string | number, Lane>, store: string): void {
  for (const [name, lane] of lanes) {
    if (!lane.idle) continue
    lane.close(new StoreFailure('unavailable', 'no', `${store}: not in use`))
    lanes.delete(name)
  }
}

async function refuse(failure: StoreFailure, some: readonly unknown[], turn: Promise<void> | undefined): Promise<readonly Failed[]> {
  await turn
  return some.map(() => ({ failure }))
}
