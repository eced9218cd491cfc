import type { AnyLimit } from '../algorithms/algorithm.ts'
import { fromMicroTokens } from '../algorithms/decimal.ts'
import { HOLD_RECORDS, HOLD_TAG, type HoldPlan, holdRecord, type HoldState, partName, RECORD_COST } from '../algorithms/hold-record.ts'
import { LimiterError } from '../errors/limiter-error.ts'
import { shown } from '../errors/options.ts'
import { scopeOf } from '../keys/encode.ts'
import type { Call, CallGroup, DecideOptions, FailurePolicy, StateId, Verdict } from '../stores/store.ts'
import type { Micros } from '../time/micros.ts'
import { type HoldBound, isFull, openHold } from './hold-bound.ts'
import { type Answered, decideGroups, type Deciders, type Resolved } from './on-failure.ts'

/** How long a group is charged, under which id. */
export interface NewHold {
  /** Name of the limiter: ids are its own. */
  readonly limiter: string
  readonly id: string
  readonly micros: Micros
  /** Nothing is to be settled: the record only says that the group was charged. */
  readonly final: boolean
  /** Bounds how many holds of a key are open at once; absent if nothing does. */
  readonly bound?: HoldBound | undefined
}

/** The answer to a group that is charged once. */
export interface ChargedOnce {
  /** Of the calls alone, without their records. */
  readonly resolved: Resolved
  /** Store time of the first charge, if it was charged before. */
  readonly before?: Micros
}

/** The state of a hold's record. It has the key of what it records, and so lies in the same slot. */
export function recordOf(limiter: string, key: string, id: string): StateId {
  return { scope: scopeOf(limiter, id, HOLD_TAG), key }
}

/**
 * Charges calls once, all or nothing, however often it is repeated with this id: each key gets a record of what it was charged.
 * @param where for messages
 * @throws LimiterError ID_REUSED if the id was used for another cost
 */
export function chargeOnce(
  where: string,
  deciders: Deciders,
  calls: readonly Call[],
  hold: NewHold,
  policy: FailurePolicy,
  options: DecideOptions,
): Promise<ChargedOnce> {
  const { group, places } = recorded(calls, hold)
  return decideGroups(deciders, [group], () => policy, options).then(([resolved]): ChargedOnce | Promise<ChargedOnce> => {
    if (resolved?.calls === undefined) return { resolved: resolved as Resolved }
    const verdicts = resolved.calls
    const own = { ...resolved, calls: places.map((place) => verdicts[place] as Verdict) }
    if (verdicts.some(({ record }) => record !== undefined)) {
      const known = new Map<string, HoldState>()
      for (const [index, { record }] of verdicts.entries())
        if (record !== undefined) known.set((group.calls[index] as Call).id.key, record as HoldState)
      return chargeRest(own, known, where, deciders, calls, hold, policy, options)
    }
    return { resolved: hold.bound && isFull(hold.bound, group.calls, resolved) ? { ...own, reason: 'holds' as const } : own }
  })
}

/**
 * Charges the keys that have no record yet, where others have.
 * @param own the verdicts of the calls
 * @param known the records, by key
 */
async function chargeRest(
  own: Answered,
  known: ReadonlyMap<string, HoldState>,
  where: string,
  deciders: Deciders,
  calls: readonly Call[],
  hold: NewHold,
  policy: FailurePolicy,
  options: DecideOptions,
): Promise<ChargedOnce> {
  for (const call of calls) requireSame(where, hold.id, known.get(call.id.key), call)
  const missing = calls.filter(({ id }) => !known.has(id.key))
  const before = Math.min(...[...known.values()].map(({ at }) => at))
  // The keys of a group over several slots may have been charged in part: the others are charged now.
  const rest = missing.length === 0 ? undefined : (await chargeOnce(where, deciders, missing, hold, policy, options)).resolved
  if (rest !== undefined && rest.calls === undefined) return { resolved: rest }
  const charged = own.calls.map((verdict, index): Verdict => rest?.calls[missing.indexOf(calls[index] as Call)] ?? passed(verdict))
  return { resolved: { ...own, outcome: rest?.outcome ?? 'allowed', retryAfter: rest?.retryAfter, calls: charged }, before }
}

/** What is left of a limit that was charged before. */
function passed({ remaining, replenishAfter, resetAfter }: Verdict): Verdict {
  return { outcome: 'allowed', retryAfter: 0, remaining, replenishAfter, resetAfter }
}

/** The calls of each key, followed by their record, and where each call is then. */
function recorded(calls: readonly Call[], { limiter, id, micros, final, bound }: NewHold): { group: CallGroup; places: readonly number[] } {
  const all: Call[] = []
  const places: number[] = []
  for (const key of keysOf(calls)) {
    const parts = calls.flatMap((call, index) => {
      if (call.id.key !== key) return []
      places[index] = all.push(call) - 1
      return [{ name: partName(call.id.scope.text), held: call.cost }]
    })
    if (bound !== undefined) {
      const open = openHold(bound, key)
      all.push(open)
      parts.push({ name: partName(open.id.scope.text), held: open.cost })
    }
    all.push({ id: recordOf(limiter, key, id), limit: recordLimit({ micros, final, parts }), cost: RECORD_COST, phase: 0 })
  }
  return { group: { calls: all, options: { hold: { id, micros } } }, places }
}

/** Most records are equal to the one before. Calls with one limit are encoded once for a batch. */
let last: AnyLimit = HOLD_RECORDS

function recordLimit(plan: HoldPlan): AnyLimit {
  const { micros, final, parts } = last.plan as HoldPlan
  const isSame = ({ name, held }: HoldPlan['parts'][number], index: number): boolean =>
    parts[index]?.name === name && parts[index].held === held
  if (plan.micros !== micros || plan.final !== final || plan.parts.length !== parts.length || !plan.parts.every(isSame))
    last = holdRecord(plan)
  return last
}

/** The keys of calls, each once. */
export function keysOf(calls: readonly Call[]): readonly string[] {
  const first = calls[0]?.id.key
  if (first !== undefined && calls.every(({ id }) => id.key === first)) return [first]
  return [...new Set(calls.map(({ id }) => id.key))]
}

function requireSame(where: string, id: string, record: HoldState | undefined, { id: { scope }, cost }: Call): void {
  const part = record?.parts.find(({ name }) => name === partName(scope.text))
  if (part === undefined || part.held === cost) return
  const [before, now] = [part.held, cost].map(fromMicroTokens)
  throw new LimiterError(
    'ID_REUSED',
    `${where}: the id ${shown(id)} was used for a cost of ${before}, and now for ${now}; use a new id for each call`,
  )
}
