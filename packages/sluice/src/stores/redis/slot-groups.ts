import { MICRO } from '../../algorithms/decimal.ts'
import type { CallOutcome } from '../../algorithms/algorithm.ts'
import type { Micros } from '../../time/micros.ts'
import type { Call, CallGroup, Decided, GroupOptions, GroupVerdict, StateId, Verdict } from '../store.ts'

export type SlotOf = (id: StateId) => number

/** The calls of one group whose states are in one slot. */
export interface SlotCalls {
  readonly slot: number
  readonly calls: readonly Call[]
  readonly options?: GroupOptions | undefined
  /** The index of each of these calls in the group. */
  readonly indexes: readonly number[]
  /** Set if `uncharged` added the last call, whose verdict is dropped. */
  readonly neverFits?: true
}

/** The lists are in the order of their first items. */
export function gather<T>(items: Iterable<T>, keyOf: (item: T) => number): T[][] {
  const lists = new Map<number, T[]>()
  for (const item of items) {
    const key = keyOf(item)
    const list = lists.get(key)
    if (list === undefined) lists.set(key, [item])
    else list.push(item)
  }
  return [...lists.values()]
}

export function areInOneSlot(groups: readonly CallGroup[], slotOf: SlotOf): boolean {
  let first: number | undefined
  for (const { calls } of groups) {
    for (const { id } of calls) {
      const slot = slotOf(id)
      first ??= slot
      if (slot !== first) return false
    }
  }
  return true
}

/** The most restrictive part comes first: if it denies, nothing has been charged in other slots. */
export function splitBySlot({ calls, options }: CallGroup, slotOf: SlotOf): readonly SlotCalls[] {
  const slots = calls.map(({ id }) => slotOf(id))
  const [slot = 0] = slots
  if (slots.every((other) => other === slot)) return [{ slot, calls, options, indexes: [...calls.keys()] }]
  const parts = gather(calls.keys(), (index) => slots[index] as number).map((indexes): SlotCalls => {
    return { slot: slots[indexes[0] as number] as number, calls: indexes.map((index) => calls[index] as Call), options, indexes }
  })
  const pace = new Map(parts.map((part) => [part, Math.min(...part.calls.map(paceOf))]))
  return parts.sort((a, b) => (pace.get(a) as number) - (pace.get(b) as number))
}

/** Calls of this cost per microsecond that the limit's rate allows. */
function paceOf({ limit, cost }: Call): number {
  const { n, m } = limit.algorithm.envelope(limit.plan)
  return n / m / cost
}

/**
 * Adds a call that costs the whole capacity of the last call's limit. So the part exceeds this capacity and charges nothing, and the
 * verdicts of its own calls are still right.
 */
export function uncharged(part: SlotCalls): SlotCalls {
  const last = part.calls.at(-1) as Call
  return { ...part, calls: [...part.calls, { ...last, cost: Math.ceil(last.limit.capacity * MICRO) }], neverFits: true }
}

export type DecideSlot = (part: SlotCalls) => Promise<GroupVerdict>

/** Calls `send` once per slot with the parts that are decided in one turn of the event loop. */
export function batched(send: (parts: readonly SlotCalls[]) => Promise<readonly GroupVerdict[]>): DecideSlot {
  let waiting: { part: SlotCalls; resolve: (verdict: GroupVerdict) => void; reject: (error: unknown) => void }[] = []
  const flush = (): void => {
    const lists = gather(waiting, ({ part }) => part.slot)
    waiting = []
    for (const list of lists) {
      send(list.map(({ part }) => part)).then(
        (verdicts) => list.forEach(({ resolve }, index) => resolve(verdicts[index] as GroupVerdict)),
        (error: unknown) => list.forEach(({ reject }) => reject(error)),
      )
    }
  }
  return (part) =>
    new Promise((resolve, reject) => {
      waiting.push({ part, resolve, reject })
      if (waiting.length === 1) void Promise.resolve().then(flush)
    })
}

export interface Answered<V extends GroupVerdict = GroupVerdict> {
  readonly part: SlotCalls
  readonly verdict: V
}

/**
 * The group gets the first failure of its parts, otherwise the longest wait of its calls. At the end of that wait, a limit with a ramp (low
 * in each new window) may deny.
 */
export function joinSlots(answers: readonly Answered[]): GroupVerdict {
  const calls: Verdict[] = []
  let [at, latest] = [0, 0]
  for (const { part, verdict } of answers) {
    if (verdict.failure !== undefined || (answers.length === 1 && part.neverFits === undefined)) return verdict
    at = Math.max(at, verdict.at)
    for (const [own, index] of part.indexes.entries()) {
      const call = verdict.calls[own] as Verdict
      calls[index] = call
      if (call.retryAfter > 0) latest = Math.max(latest, verdict.at + call.retryAfter)
    }
  }
  const has = (outcome: CallOutcome): boolean => calls.some((call) => call.outcome === outcome)
  if (has('impossible')) return { outcome: 'impossible', at, calls }
  if (has('denied')) return { outcome: 'denied', at, retryAfter: Math.max(0, latest - at), calls }
  return { outcome: 'allowed', at, ...(latest > at ? { retryAfter: latest - at } : {}), calls }
}

/** As many instants as the driver (`algorithms/group.ts`) tries. */
const MAX_ROUNDS = 16

/**
 * The least wait after which all parts would pass (law 4); undefined if none was found.
 * @param decideSlot decides a part at an instant, without charging
 */
export async function leastWait(
  parts: readonly SlotCalls[],
  { at, retryAfter = 0 }: Decided,
  decideSlot: (part: SlotCalls, at: Micros) => Promise<GroupVerdict>,
): Promise<Micros | undefined> {
  let latest = at + retryAfter
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const instant = latest
    const verdicts = await Promise.all(parts.map((part) => decideSlot(part, instant)))
    for (const verdict of verdicts) {
      const wait = verdict.outcome === 'allowed' ? 0 : verdict.outcome === 'denied' ? verdict.retryAfter : undefined
      latest = wait === undefined ? Number.NaN : Math.max(latest, instant + wait)
    }
    if (!Number.isSafeInteger(latest)) return undefined
    if (latest === instant) return latest - at
  }
  return undefined
}
