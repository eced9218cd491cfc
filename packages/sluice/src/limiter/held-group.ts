import type { AnyLimit } from '../algorithms/algorithm.ts'
import { fromMicroTokens } from '../algorithms/decimal.ts'
import {
  HOLD_RECORDS,
  HOLD_TAG,
  type HoldPlan,
  holdRecord,
  type HoldState,
  KEPT_AFTER,
  partName,
  RECORD_COST,
} from '../algorithms/hold-record.ts'
import { LimiterError } from '../errors/limiter-error.ts'
import { shown } from '../errors/options.ts'
import { scopeOf } from '../keys/encode.ts'
import type { Call, CallGroup, Change, DecideOptions, FailurePolicy, StateId, Verdict } from '../stores/store.ts'
import type { Micros } from '../time/micros.ts'
import { type HoldBound, isFull, openHold } from './hold-bound.ts'
import { takesSlots } from './holders.ts'
import { type Answered, decideGroup, decideGroups, type Deciders, type Resolved } from './on-failure.ts'

/** A hold that is to be made: its id, how long it lasts, and what bounds it. */
export interface NewHold {
  /** Name of the limiter. Different limiters may use the same id for different holds. */
  readonly limiter: string
  readonly id: string
  readonly micros: Micros
  /** True for `check` with an id: nobody will settle the hold, and its record only says that the group was charged. */
  readonly final: boolean
  /** Bounds how many holds of a key are open at once; absent if there is no such bound. */
  readonly bound?: HoldBound | undefined
}

/** The answer to a group that is charged once. */
export interface ChargedOnce {
  /** The result of the calls, without that of their records. */
  readonly resolved: Resolved
  /** Store time of the first charge, if the group was charged before under the same id. */
  readonly before?: Micros | undefined
}

/**
 * The state id of a hold's record. It contains the key that the hold charged, so a store with several servers keeps the record on the
 * server of the charged states.
 */
export function recordOf(limiter: string, key: string, id: string): StateId {
  return { scope: scopeOf(limiter, id, HOLD_TAG), key }
}

/**
 * Charges calls once, all or nothing, however often this is repeated with the same id. Each key gets a record of what it was charged.
 * @param where names the caller in error messages
 * @throws LimiterError ID_REUSED if the id was used for another cost, or if its hold was settled or has ended
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
  const charged = (resolved: Resolved): ChargedOnce | Promise<ChargedOnce> => {
    const verdicts = resolved.calls
    if (verdicts === undefined) return { resolved }
    const own = { ...resolved, calls: calls.length === 1 ? verdicts.slice(0, 1) : places.map((place) => verdicts[place] as Verdict) }
    const known = knownIn(group, verdicts)
    // An earlier call with this id has charged some keys of the group. The store that has decided now also decides the rest.
    if (known.size > 0) return chargeRest(own, known, where, decidersOf(own, deciders), calls, hold, policy, options)
    return { resolved: hold.bound && isFull(hold.bound, group.calls, resolved) ? { ...own, reason: 'holds' as const } : own }
  }
  return decideGroup(deciders, group, policy, options).then(charged)
}

/** A hold that was charged before, and whether it has ended by the clock of the store. */
interface KnownHold {
  readonly record: HoldState
  readonly hasEnded: boolean
}

const NONE_KNOWN: ReadonlyMap<string, KnownHold> = new Map()

/** The records that existed before this group was decided, by key. */
function knownIn({ calls }: CallGroup, verdicts: readonly Verdict[]): ReadonlyMap<string, KnownHold> {
  if (verdicts.every(({ record }) => record === undefined)) return NONE_KNOWN
  const known = new Map<string, KnownHold>()
  for (const [index, { record, resetAfter }] of verdicts.entries())
    if (record !== undefined) known.set((calls[index] as Call).id.key, { record: record as HoldState, hasEnded: resetAfter <= KEPT_AFTER })
  return known
}

/**
 * Completes a repeated call, which finds records for at least one key of its group. The keys without a record are charged. If all keys have
 * one, slots are requested again.
 * @param own the verdicts of the calls
 * @param known the records that existed before, by key
 */
async function chargeRest(
  own: Answered,
  known: ReadonlyMap<string, KnownHold>,
  where: string,
  deciders: Deciders,
  calls: readonly Call[],
  hold: NewHold,
  policy: FailurePolicy,
  options: DecideOptions,
): Promise<ChargedOnce> {
  for (const call of calls) requireSame(where, hold, known.get(call.id.key), call)
  const [missing, kept] = [false, true].map((isKnown) => calls.filter(({ id }) => known.has(id.key) === isKnown)) as [Call[], Call[]]
  const before = Math.min(...[...known.values()].map(({ record }) => record.at))
  const resolved: Answered = { ...own, outcome: 'allowed', retryAfter: undefined, calls: own.calls.map(passed) }
  if (missing.length > 0) {
    // The keys of a group may be in several slots of a cluster, so an earlier call may have charged only some of them. The other keys are
    // charged now. The earlier call may meanwhile have given back what it charged. So the keys with a record are decided once more: they
    // are charged only if their record is gone.
    const rest = await chargeOnce(where, deciders, missing, hold, policy, options)
    const partial = together(resolved, calls, missing, rest.resolved)
    if (partial.calls === undefined || partial.outcome !== 'allowed') return { resolved: partial, before }
    const again = await chargeOnce(where, deciders, kept, hold, policy, options)
    return { resolved: together(partial, calls, kept, again.resolved), before: again.before }
  }
  const slots = calls.filter(({ limit }) => takesSlots(limit))
  if (slots.length === 0) return { resolved, before }
  // A record does not say whether its slots were given back, so they are requested again. A holder that still has a slot is granted the
  // same one.
  const group: CallGroup = { calls: slots, options: { hold: { id: hold.id, micros: hold.micros } } }
  const [held] = (await decideGroups(deciders, [group], () => policy, options)) as readonly [Resolved]
  if (!hold.final && held.outcome === 'allowed') await requireOpen(where, deciders, calls, slots, hold, policy, options)
  return { resolved: together(resolved, calls, slots, held), before }
}

/**
 * Requires that a hold is open. It may have been settled after its record was read, and before its slots were requested again. Then nobody
 * would give back these slots, so they are given back here.
 * @throws LimiterError ID_REUSED if the hold is not open any more
 */
async function requireOpen(
  where: string,
  deciders: Deciders,
  calls: readonly Call[],
  slots: readonly Call[],
  hold: NewHold,
  policy: FailurePolicy,
  options: DecideOptions,
): Promise<void> {
  const { group } = recorded(calls, hold)
  const [now] = (await decideGroups(deciders, [group], () => policy, { ...options, charge: false })) as readonly [Resolved]
  if (now.calls === undefined) return
  const known = knownIn(group, now.calls)
  try {
    for (const call of calls) requireSame(where, hold, known.get(call.id.key), call)
  } catch (error) {
    const changes = slots.map((call): Change => ({ kind: 'release', call, holder: hold.id }))
    await deciders.main.change(changes, options).catch(() => undefined)
    throw error
  }
}

/** Merges two results of a group: `before` for all its calls, and `decided` for those calls that were decided later. */
function together(before: Answered, calls: readonly Call[], later: readonly Call[], decided: Resolved): Resolved {
  if (decided.calls === undefined) return decided
  const { outcome, reason, retryAfter } = decided
  const verdicts = before.calls.map((verdict, index): Verdict => decided.calls[later.indexOf(calls[index] as Call)] ?? verdict)
  return { ...before, outcome, ...(reason === undefined ? {} : { reason }), retryAfter, calls: verdicts }
}

/**
 * Who decides the rest of a group. If the local fallback decided the group, it alone. Otherwise the store, and the fallback if the store
 * fails.
 */
function decidersOf({ source }: Answered, { main, local }: Deciders): Deciders {
  return source === 'fallback' && local !== undefined ? { main: local, local: undefined } : { main, local }
}

/** The verdict of a call that an earlier attempt has charged: allowed, with what its limit has left now. */
function passed({ remaining, replenishAfter, resetAfter }: Verdict): Verdict {
  return { outcome: 'allowed', retryAfter: 0, remaining, replenishAfter, resetAfter }
}

/**
 * The group that charges calls with their records: the calls of each key, followed by the key's record. `places[i]` is the index of
 * `calls[i]` in this group.
 */
function recorded(calls: readonly Call[], { limiter, id, micros, final, bound }: NewHold): { group: CallGroup; places: readonly number[] } {
  const all: Call[] = []
  const places: number[] = []
  for (const key of keysOf(calls)) {
    const parts: HoldPlan['parts'][number][] = []
    const add = (call: Call): number => {
      parts.push({ name: partName(call.id.scope.text), held: call.cost })
      return all.push(call) - 1
    }
    for (let index = 0; index < calls.length; index += 1) {
      const call = calls[index] as Call
      if (call.id.key === key) places[index] = add(call)
    }
    for (const open of openHold(bound, key)) add(open)
    all.push({ id: recordOf(limiter, key, id), limit: recordLimit({ micros, final, parts }), cost: RECORD_COST, phase: 0 })
  }
  return { group: { calls: all, options: { hold: { id, micros } } }, places }
}

/**
 * The limit of the latest record. Most records have an equal limit, and then reuse this object, because a batch encodes each limit object
 * only once.
 */
let last: AnyLimit = HOLD_RECORDS

function recordLimit(plan: HoldPlan): AnyLimit {
  const { micros, final, parts } = last.plan as HoldPlan
  const isSame = ({ name, held }: HoldPlan['parts'][number], index: number): boolean =>
    parts[index]?.name === name && parts[index].held === held
  if (plan.micros !== micros || plan.final !== final || plan.parts.length !== parts.length || !plan.parts.every(isSame))
    last = holdRecord(plan)
  return last
}

/** The distinct keys of calls, in the order in which they first appear. */
export function keysOf(calls: readonly Call[]): readonly string[] {
  const first = calls[0]?.id.key
  if (first !== undefined && (calls.length === 1 || calls.every(({ id }) => id.key === first))) return [first]
  return [...new Set(calls.map(({ id }) => id.key))]
}

/**
 * @throws LimiterError ID_REUSED if the call differs from the one that was charged under this id, or if its hold was settled or has ended
 */
function requireSame(where: string, { id, final }: NewHold, known: KnownHold | undefined, { id: { scope }, cost }: Call): void {
  if (known === undefined) return
  const { record, hasEnded } = known
  const part = record.parts.find(({ name }) => name === partName(scope.text))
  const refuse = (why: string): never => {
    throw new LimiterError('ID_REUSED', `${where}: the id ${shown(id)} ${why}; use a new id for each call`)
  }
  if (part !== undefined && part.held !== cost) {
    const [before, now] = [part.held, cost].map(fromMicroTokens)
    refuse(`was used for a cost of ${before}, and now for ${now}`)
  }
  const isSettled = record.settled !== 0
  // The record of a `check` with an id is settled from the start, and keeps all that was charged.
  if (final) {
    if (!isSettled) refuse('belongs to a reservation')
    if (part !== undefined && part.charged !== part.held) refuse('belongs to a reservation that was settled or cancelled')
  } else if (isSettled) refuse('was settled or cancelled')
  else if (hasEnded) refuse('belongs to a hold that has ended')
}
