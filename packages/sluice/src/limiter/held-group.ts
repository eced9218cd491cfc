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

/** A charge that may be settled within `micros`. After that, its tokens stay charged, and its slots are free again. */
export interface NewHold {
  /** Different limiters may use the same id for different holds. */
  readonly limiter: string
  readonly id: string
  readonly micros: Micros
  /** True for `check` with an id: nobody settles it, it only remembers that the group was charged. */
  readonly final: boolean
  readonly bound?: HoldBound | undefined
}

export interface ChargedOnce {
  /** Verdicts of the calls, without those of the records. */
  readonly resolved: Resolved
  /** Store time of the first charge; absent unless repeated. */
  readonly before?: Micros | undefined
}

/** The id contains the charged key, so that a store with several servers keeps the record with the charged states. */
export function recordOf(limiter: string, key: string, id: string): StateId {
  return { scope: scopeOf(limiter, id, HOLD_TAG), key }
}

/**
 * Charges calls once, all or nothing, however often this is repeated with the same id.
 * @throws LimiterError ID_REUSED if the id was used for another cost, or for a hold that does not fit this call (`requireSame`)
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
    // An earlier call with this id has charged some of the keys.
    if (known.size > 0) return chargeRest(own, known, where, decidersOf(own, deciders), calls, hold, policy, options)
    return { resolved: hold.bound && isFull(hold.bound, group.calls, resolved) ? { ...own, reason: 'holds' as const } : own }
  }
  return decideGroup(deciders, group, policy, options).then(charged)
}

/** A hold that was charged before. `hasEnded` is by the store's clock. */
interface KnownHold {
  readonly record: HoldState
  readonly hasEnded: boolean
}

const NONE_KNOWN: ReadonlyMap<string, KnownHold> = new Map()

/** By key: the records that existed before this group was decided. */
function knownIn({ calls }: CallGroup, verdicts: readonly Verdict[]): ReadonlyMap<string, KnownHold> {
  if (verdicts.every(({ record }) => record === undefined)) return NONE_KNOWN
  const known = new Map<string, KnownHold>()
  for (const [index, { record, resetAfter }] of verdicts.entries())
    if (record !== undefined) known.set((calls[index] as Call).id.key, { record: record as HoldState, hasEnded: resetAfter <= KEPT_AFTER })
  return known
}

/** For a repeated call: charges the keys that have no record of a first charge. If there are none, requests slots again. */
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
    // The earlier call may meanwhile have given back its charges. So keys with a record of a charge are decided again, and charged only if
    // the record is gone.
    const rest = await chargeOnce(where, deciders, missing, hold, policy, options)
    const partial = together(resolved, calls, missing, rest.resolved)
    if (partial.calls === undefined || partial.outcome !== 'allowed') return { resolved: partial, before }
    const again = await chargeOnce(where, deciders, kept, hold, policy, options)
    return { resolved: together(partial, calls, kept, again.resolved), before: again.before }
  }
  const slots = calls.filter(({ limit }) => takesSlots(limit))
  if (slots.length === 0) return { resolved, before }
  // The record of the hold does not say whether its slots were given back. So they are taken again; a holder that still has a slot gets
  // the same one.
  const group: CallGroup = { calls: slots, options: { hold: { id: hold.id, micros: hold.micros } } }
  const [held] = (await decideGroups(deciders, [group], () => policy, options)) as readonly [Resolved]
  if (!hold.final && held.outcome === 'allowed') await requireOpen(where, deciders, calls, slots, hold, policy, options)
  return { resolved: together(resolved, calls, slots, held), before }
}

/** The hold may have been settled just before its slots were requested again. Nobody else would then give these slots back. */
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

/** Replaces the verdicts in `before` of calls that were decided later. */
function together(before: Answered, calls: readonly Call[], later: readonly Call[], decided: Resolved): Resolved {
  if (decided.calls === undefined) return decided
  const { outcome, reason, retryAfter } = decided
  const verdicts = before.calls.map((verdict, index): Verdict => decided.calls[later.indexOf(calls[index] as Call)] ?? verdict)
  return { ...before, outcome, ...(reason === undefined ? {} : { reason }), retryAfter, calls: verdicts }
}

/** What the local fallback has begun, it decides alone. */
function decidersOf({ source }: Answered, { main, local }: Deciders): Deciders {
  return source === 'fallback' && local !== undefined ? { main: local, local: undefined } : { main, local }
}

function passed({ remaining, replenishAfter, resetAfter }: Verdict): Verdict {
  return { outcome: 'allowed', retryAfter: 0, remaining, replenishAfter, resetAfter }
}

/** Each key's calls, then the record of their charge. `places[i]` is the index of `calls[i]`. */
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

/** Most records have an equal limit, and reuse this object: a batch encodes each limit object only once. */
let last: AnyLimit = HOLD_RECORDS

function recordLimit(plan: HoldPlan): AnyLimit {
  const { micros, final, parts } = last.plan as HoldPlan
  const isSame = ({ name, held }: HoldPlan['parts'][number], index: number): boolean =>
    parts[index]?.name === name && parts[index].held === held
  if (plan.micros !== micros || plan.final !== final || plan.parts.length !== parts.length || !plan.parts.every(isSame))
    last = holdRecord(plan)
  return last
}

export function keysOf(calls: readonly Call[]): readonly string[] {
  const first = calls[0]?.id.key
  if (first !== undefined && (calls.length === 1 || calls.every(({ id }) => id.key === first))) return [first]
  return [...new Set(calls.map(({ id }) => id.key))]
}

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
