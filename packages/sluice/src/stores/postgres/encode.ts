import type { AnyLimit } from '../../algorithms/algorithm.ts'
import { type BucketPlan, spanOf } from '../../algorithms/bucket-plan.ts'
import { type ConcurrencyPlan, holderOf } from '../../algorithms/concurrency.ts'
import { HOLD_TAG, type HoldPlan, isRecord } from '../../algorithms/hold-record.ts'
import { stateName } from '../../keys/encode.ts'
import { sha256 } from '../../keys/sha256.ts'
import type { Batch, BatchState } from '../batch/batch.ts'
import type { Adjustment } from '../batch/change-runs.ts'
import type { Call, CallGroup, CallOptions, Change, StateId } from '../store.ts'

/** Values of the column `kind`, by algorithm. */
const KINDS: Readonly<Record<string, number>> = { tb: 0, fw: 1, sc: 2, sl: 3, cc: 4, [HOLD_TAG]: 4 }
const [LOG, OTHER] = [3, 4]
/** How many numbers describe a limit (a plan). The record of a hold takes a multiple of this. */
const PLAN_WIDTH = 8
/** If a batch has at least this many reservations, reserve.sql is faster than consume.sql. */
const MIN_RESERVATIONS = 6
/** The two numbers for a holder that has no id. */
const NOBODY = [-1, 0] as const

export type Release = Extract<Change, { readonly kind: 'release' }>

export interface Request {
  readonly program: 'consume' | 'reserve' | 'bucket' | 'buckets'
  /** In the order of row ids, in which rows are locked. */
  readonly states: readonly BatchState[]
  readonly ids: readonly string[]
  /** The function's arguments. For `waiting` see consume.sql. */
  values(waiting: string): readonly string[]
}

/** @param now microseconds since 1970; 0 for the database's own clock */
export function requestOf(groups: readonly CallGroup[], batch: Batch, now: string, charge: boolean): Request {
  const rows = batch.states.map((state) => ({ id: digestOfName(state.name), state }))
  rows.sort(byId)
  for (const [index, { state }] of rows.entries()) state.index = index
  const ids = rows.map(({ id }) => id)
  const states = rows.map(({ state }) => state)
  const [call] = batch.descriptors
  if (charge && batch.alike && call?.limit.algorithm.tag === 'tb' && (call.limit.plan as BucketPlan).ahead === 0) {
    const bucket = bucketValues(call)
    if (ids.length === 1) {
      const which = [String(groups.length), ids[0] as string, ...bucket]
      return { program: 'bucket', states, ids, values: (waiting) => [now, waiting, ...which] }
    }
    if (ids.length === groups.length) {
      return { program: 'buckets', states, ids, values: (waiting) => [now, waiting, arrayText(ids), ...bucket] }
    }
  }
  const lists = [ids, ...sectionsOf(groups, batch, states)].map(arrayText)
  const program = charge && groups.length >= MIN_RESERVATIONS && areReservations(batch, groups.length) ? 'reserve' : 'consume'
  return { program, states, ids, values: (waiting) => [now, String(charge), waiting, ...lists] }
}

/** Whether reserve.sql can decide all groups. */
function areReservations({ states, descriptors, entries }: Batch, groups: number): boolean {
  const [first, record] = entries[0]?.descriptors.map((index) => descriptors[index]) ?? []
  if (first?.limit.algorithm.tag !== 'tb' || record === undefined || !isRecord(record.limit)) return false
  const plan = first.limit.plan as BucketPlan
  const hold = record.limit.plan as HoldPlan
  if (plan.ahead > 0 || states.length < 2 * groups || entries.length < groups) return false
  return entries.every(({ descriptors: own }) => {
    const [call, recorded] = own.map((index) => descriptors[index]) as [Call, Call | undefined]
    if (own.length !== 2 || recorded === undefined || !isRecord(recorded.limit)) return false
    const { micros, final, parts } = recorded.limit.plan as HoldPlan
    const isSame = micros === hold.micros && final === hold.final && parts.length === 1 && parts[0]?.name === hold.parts[0]?.name
    return isSame && call.limit.plan === plan && call.cost <= plan.burst && parts[0]?.held === call.cost
  })
}

/** The last arguments of bucket.sql and buckets.sql. */
function bucketValues({ limit, cost }: Call): string[] {
  const plan = limit.plan as BucketPlan
  const spent = spanOf(plan, Math.min(cost, plan.burst))
  const { micros, rest } = plan.emptyBefore
  const numbers = [plan.n, plan.m, plan.burst, cost, spent.micros, spent.rest, micros, rest]
  return [planIdText(limit), ...numbers.map(String)]
}

export function planIdText(limit: AnyLimit): string {
  return planText(limit).split(',', 2)[1] as string
}

/** The arguments `firsts`, `sizes`, `plans` and `calls` of consume.sql. */
function sectionsOf(groups: readonly CallGroup[], batch: Batch, states: readonly BatchState[]): (string | number)[][] {
  const { plans, planOf } = plansOf()
  const firsts = states.map(({ first }) => planOf(first.limit))
  const described = batch.descriptors.map(({ limit, cost, phase }) => `${cost},${planOf(limit)},${phase}`)
  const entries = batch.byGroup.filter((entry) => entry !== undefined)
  const calls = entries.flatMap(({ states: own, descriptors }) =>
    own.map(({ index }, at) => `${index + 1},${described[descriptors[at] as number]}`),
  )
  return [firsts, groups.map((group) => group.calls.length), [...plans.keys()], calls]
}

/** `planOf` returns where a limit's numbers begin, in units of PLAN_WIDTH, from 1. */
export function plansOf(): { readonly plans: ReadonlyMap<string, number>; planOf(limit: AnyLimit): number } {
  const plans = new Map<string, number>()
  let next = 1
  const planOf = (limit: AnyLimit): number => {
    const text = planText(limit)
    const known = plans.get(text)
    if (known !== undefined) return known
    const index = next
    plans.set(text, index)
    next += text.split(',').length / PLAN_WIDTH
    return index
  }
  return { plans, planOf }
}

function byId(one: { readonly id: string }, other: { readonly id: string }): number {
  return one.id < other.id ? -1 : one.id > other.id ? 1 : 0
}

/** The arguments `ids`, `plans` and `calls` of adjust.sql. */
export function adjustmentValues(adjustments: readonly Adjustment[]): string[] {
  const rows = adjustments.map(({ call: { id, limit, phase }, amount }) => {
    return { id: digestOf(id), plan: planText(limit), argument: `${amount},${phase}` }
  })
  // Rows are locked in this order. The sort is stable: adjustments of one state keep their order.
  rows.sort(byId)
  return [rows.map(({ id }) => id), rows.map(({ plan }) => plan), rows.map(({ argument }) => argument)].map(arrayText)
}

/** The arguments `ids` and `holders` of release.sql. */
export function releaseValues(releases: readonly Release[]): string[] {
  const rows = releases.map(({ call: { id }, holder }) => ({ id: digestOf(id), numbers: holderOf(holder) }))
  rows.sort(byId)
  return [rows.map(({ id }) => id), rows.flatMap(({ numbers }) => numbers)].map(arrayText)
}

/**
 * The row id of a state: the first 16 bytes of the SHA-256 of its name. States with equal ids would be charged together. The probability is
 * 10^-21 among a billion states, and an attacker needs 2^64 tries.
 */
export function digestOf(id: StateId): string {
  return digestOfName(stateName(id))
}

let digests = new Map<string, string>()
const MAX_DIGESTS = 1_000

function digestOfName(name: string): string {
  const known = digests.get(name)
  if (known !== undefined) return known
  const digest = sha256(name, 4)
  if (digests.size >= MAX_DIGESTS) digests = new Map()
  digests.set(name, digest)
  return digest
}

export function digestsOf(ids: readonly StateId[]): string[] {
  return [...new Set(ids.map(digestOf))].sort()
}

const texts = new WeakMap<object, string>()

/** A limit's numbers, beginning with the kind and the plan id. */
function planText(limit: AnyLimit): string {
  const known = texts.get(limit.plan)
  if (known !== undefined) return known
  const filled = numbersOf(limit)
  while (filled.length % PLAN_WIDTH !== 0) filled.push(0)
  const text = filled.join()
  texts.set(limit.plan, text)
  return text
}

function numbersOf(limit: AnyLimit): (number | bigint)[] {
  const { tag, codec } = limit.algorithm
  const { plan } = limit
  if (isRecord(limit)) {
    const { micros, final, parts } = plan as HoldPlan
    return [OTHER, 0, 0, micros, Number(final), parts.length, ...parts.flatMap(({ name, held }) => [name, held])]
  }
  if (KINDS[tag] === OTHER) {
    const { limit: most, hold, holder = NOBODY } = plan as ConcurrencyPlan
    return [OTHER, 0, most, hold, ...holder]
  }
  const numbers = codec.encodePlan(plan)
  if (tag !== 'tb') return [KINDS[tag] as number, numbers[1] as number, ...numbers]
  return [KINDS[tag] as number, planIdOf(numbers), ...numbers, (plan as BucketPlan).ahead]
}

/** Names a bucket's limit in stored states: the first 60 bits of the SHA-256 of its numbers. */
export function planIdOf(numbers: readonly number[]): bigint {
  return BigInt(`0x${sha256(numbers.join(' ')).slice(0, 15)}`)
}

export function hasFunctions({ algorithm }: AnyLimit): boolean {
  return Object.hasOwn(KINDS, algorithm.tag)
}

/** SQL functions return verdicts of logs, not their states. */
export function isLog({ algorithm }: AnyLimit): boolean {
  return KINDS[algorithm.tag] === LOG
}

/** Whether the states' numbers are in the column `state`, as text. */
export function isOther({ algorithm }: AnyLimit): boolean {
  return KINDS[algorithm.tag] === OTHER
}

/** Microseconds since 1970; 0 for the server's own clock. */
export function nowOf(options: CallOptions | undefined): string {
  return String(options?.now ?? 0)
}

export function arrayText(items: readonly (string | number)[]): string {
  return `{${items.join()}}`
}
