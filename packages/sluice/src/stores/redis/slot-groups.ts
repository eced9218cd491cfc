import { MICRO } from '../../algorithms/decimal.ts'
import type { CallOutcome } from '../../algorithms/algorithm.ts'
import type { Micros } from '../../time/micros.ts'
import { type Call, type GroupVerdict, type StateId, StoreFailure, type Verdict } from '../store.ts'

/** The calls of one group whose states are in one slot. */
export interface Part {
  readonly slot: number
  readonly calls: readonly Call[]
  /** The index of each call in the group. */
  readonly places: readonly number[]
  /** Set if the last call was added and is not part of the answer. */
  readonly looks?: true
}

/** Groups items by key; the lists are in the order of their first item. */
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

/**
 * Splits a group by slot, the most restrictive part first: it is the most likely to deny, and then nothing was charged in other slots.
 */
export function partsOf(calls: readonly Call[], slotOf: (id: StateId) => number): readonly Part[] {
  const slots = calls.map(({ id }) => slotOf(id))
  const parts = gather(calls.keys(), (place) => slots[place] as number).map((places): Part => {
    return { slot: slots[places[0] as number] as number, calls: places.map((place) => calls[place] as Call), places }
  })
  if (parts.length < 2) return parts
  const pace = new Map(parts.map((part) => [part, Math.min(...part.calls.map(paceOf))]))
  return parts.sort((a, b) => (pace.get(a) as number) - (pace.get(b) as number))
}

/** How many calls of this cost the rate allows per microsecond. */
function paceOf({ limit, cost }: Call): number {
  const { n, m } = limit.algorithm.envelope(limit.plan)
  return n / m / cost
}

/** The same calls with one more that never fits: their verdicts are valid, and nothing is charged. */
export function looking(part: Part): Part {
  const last = part.calls.at(-1) as Call
  return { ...part, calls: [...part.calls, { ...last, cost: Math.ceil(last.limit.capacity * MICRO) }], looks: true }
}

/** Requests a verdict for one part. */
export type Ask = (part: Part) => Promise<GroupVerdict>

/** Batches parts that are requested in one turn of the loop: one list for each slot, in order. */
export function together(send: (parts: readonly Part[]) => Promise<readonly GroupVerdict[]>): Ask {
  let waiting: { part: Part; resolve: (verdict: GroupVerdict) => void; reject: (error: unknown) => void }[] = []
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

export interface Answered {
  readonly part: Part
  readonly verdict: GroupVerdict
}

/** Combines the answers of all slots. */
export function joinParts(answers: readonly Answered[]): GroupVerdict {
  const lost = answers.find(({ verdict }) => verdict.outcome === 'undecided')
  if (lost !== undefined) return lost.verdict
  const [only] = answers
  if (answers.length === 1 && only !== undefined && only.part.looks === undefined) return only.verdict
  const calls: Verdict[] = []
  for (const { part, verdict } of answers) part.places.forEach((place, index) => (calls[place] = verdict.calls[index] as Verdict))
  const has = (outcome: CallOutcome): boolean => calls.some((call) => call.outcome === outcome)
  const outcome = has('impossible') ? 'impossible' : has('denied') ? 'denied' : 'allowed'
  const at = Math.max(...answers.map(({ verdict }) => verdict.at))
  const retryAfter = outcome === 'denied' ? waitOf(answers, at) : undefined
  return { outcome, allowed: outcome === 'allowed', at, retryAfter, calls, source: only?.verdict.source ?? 'store' }
}

/** The longest wait of a denied call: enough for all unless a limit is ramped. */
function waitOf(answers: readonly Answered[], at: Micros): Micros {
  let latest = at
  for (const { part, verdict } of answers) {
    for (const index of part.places.keys()) {
      const { outcome, retryAfter } = verdict.calls[index] as Verdict
      if (outcome === 'denied') latest = Math.max(latest, verdict.at + retryAfter)
    }
  }
  return latest - at
}

/** The most instants that are tried, as in the reference driver. */
const MAX_ROUNDS = 16

/**
 * The least wait after which all parts would pass (law 4). It requests each part at the latest instant that any of them needs, until none
 * needs a later one. Undefined if none was found.
 * @param ask the verdict of a slot at an instant, without charging
 */
export async function leastWait(
  parts: readonly Part[],
  { at, retryAfter = 0 }: GroupVerdict,
  ask: (part: Part, at: Micros) => Promise<GroupVerdict>,
): Promise<Micros | undefined> {
  let latest = at + retryAfter
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const asked = latest
    const verdicts = await Promise.all(parts.map((part) => ask(part, asked)))
    for (const verdict of verdicts) {
      const wait = verdict.outcome === 'allowed' ? 0 : verdict.retryAfter
      latest = wait === undefined ? Number.NaN : Math.max(latest, asked + wait)
    }
    if (!Number.isSafeInteger(latest)) return undefined
    if (latest === asked) return latest - at
  }
  return undefined
}

/** @throws any error that is not a StoreFailure */
export function undecided(error: unknown): GroupVerdict {
  if (!(error instanceof StoreFailure)) throw error
  return { outcome: 'undecided', allowed: false, at: Number.NaN, calls: [], source: 'store', degraded: error }
}

/** @throws StoreFailure if no group was decided */
export function settled(verdicts: readonly GroupVerdict[]): readonly GroupVerdict[] {
  const failures = verdicts.flatMap(({ degraded, outcome }) => (outcome === 'undecided' && degraded !== undefined ? [degraded] : []))
  const [first] = failures
  if (first === undefined || failures.length < verdicts.length) return verdicts
  throw failures.find(({ executed }) => executed === 'unknown') ?? first
}
