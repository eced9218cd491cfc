import type { AlgorithmTag, AnyLimit } from '../../algorithms/algorithm.ts'
import { type BucketPlan, spanOf } from '../../algorithms/bucket-plan.ts'
import { stateName } from '../../keys/encode.ts'
import { sha256 } from '../../keys/sha256.ts'
import type { Batch, BatchState } from '../batch/batch.ts'
import type { Adjustment } from '../batch/change-runs.ts'
import type { Call, CallGroup, StateId } from '../store.ts'

/** The values of the column `kind`, for the algorithms that functions decide. */
const KINDS: Readonly<Partial<Record<AlgorithmTag, number>>> = { tb: 0, fw: 1, sc: 2, sl: 3 }
const PLAN_WIDTH = 8

export interface Request {
  readonly program: 'consume' | 'bucket' | 'buckets'
  /** In the order of the row ids, in which rows are locked. */
  readonly states: readonly BatchState[]
  /** @param waiting how the function waits for rows */
  values(waiting: string): readonly string[]
}

/** Encodes a batch for the function that is fastest for it. @param now in microseconds; 0 for the database's own clock */
export function requestOf(groups: readonly CallGroup[], batch: Batch, now: string, charge: boolean): Request {
  const rows = batch.states.map((state) => ({ id: digestOfName(state.name), state }))
  rows.sort(byId)
  for (const [index, { state }] of rows.entries()) state.index = index
  const ids = rows.map(({ id }) => id)
  const states = rows.map(({ state }) => state)
  const [call] = batch.descriptors
  if (charge && batch.alike && call?.limit.algorithm.tag === 'tb') {
    const bucket = bucketValues(call)
    if (ids.length === 1) {
      const which = [String(groups.length), ids[0] as string, ...bucket]
      return { program: 'bucket', states, values: (waiting) => [now, waiting, ...which] }
    }
    if (ids.length === groups.length) {
      return { program: 'buckets', states, values: (waiting) => [now, waiting, arrayText(ids), ...bucket] }
    }
  }
  const lists = [ids, ...sectionsOf(groups, batch, states)].map(arrayText)
  return { program: 'consume', states, values: (waiting) => [now, String(charge), waiting, ...lists] }
}

/** Plan id, n, m, burst, cost, and spans of the cost and of a full bucket. */
function bucketValues({ limit, cost }: Call): string[] {
  const plan = limit.plan as BucketPlan
  const spent = spanOf(plan, Math.min(cost, plan.burst))
  const { micros, rest } = plan.emptyBefore
  const numbers = [plan.n, plan.m, plan.burst, cost, spent.micros, spent.rest, micros, rest]
  return [planText(limit).split(',', 2)[1] as string, ...numbers.map(String)]
}

/**
 * The arguments of `consume` after the ids. Numbers that belong together are one text, with commas. For each state the index of its first
 * call's plan, from 1; the number of calls of each group; the plans, of eight numbers each; for each call: index of its state, cost, index
 * of its plan, phase.
 */
function sectionsOf(groups: readonly CallGroup[], { descriptors, byGroup }: Batch, states: readonly BatchState[]): (string | number)[][] {
  const plans = new Map<string, number>()
  const planOf = (limit: AnyLimit): number => {
    const text = planText(limit)
    const index = plans.get(text) ?? plans.size + 1
    plans.set(text, index)
    return index
  }
  const firsts = states.map(({ first }) => planOf(first.limit))
  const described = descriptors.map(({ limit, cost, phase }) => `${cost},${planOf(limit)},${phase}`)
  const calls = byGroup.flatMap((entry) =>
    entry === undefined ? [] : entry.states.map(({ index }, at) => `${index + 1},${described[entry.descriptors[at] as number]}`),
  )
  return [firsts, groups.map((group) => group.calls.length), [...plans.keys()], calls]
}

function byId(one: { readonly id: string }, other: { readonly id: string }): number {
  return one.id < other.id ? -1 : one.id > other.id ? 1 : 0
}

/** The arguments of `adjust` after the receipt: ids, plans, and for each call its amount and phase. */
export function adjustmentValues(adjustments: readonly Adjustment[]): string[] {
  const rows = adjustments.map(({ call: { id, limit, phase }, amount }) => {
    return { id: digestOf(id), plan: planText(limit), argument: `${amount},${phase}` }
  })
  // Rows are locked in the order of their ids; changes of one state keep their order.
  rows.sort(byId)
  return [rows.map(({ id }) => id), rows.map(({ plan }) => plan), rows.map(({ argument }) => argument)].map(arrayText)
}

/**
 * The row id of a state: the first 16 bytes of the SHA-256 of its name. Among a billion states two share one with a probability of about
 * 10^-21; to construct two that do takes 2^64 tries. They would then share one limit.
 */
export function digestOf(id: StateId): string {
  return digestOfName(stateName(id))
}

/** Cache of digests by name, so that a repeated key is digested once. */
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

/** Digests without duplicates, in the order in which rows are locked. */
export function digestsOf(ids: readonly StateId[]): string[] {
  return [...new Set(ids.map(digestOf))].sort()
}

const texts = new WeakMap<object, string>()

/** Kind, plan id and numbers of a plan as the functions read them. */
function planText(limit: AnyLimit): string {
  const known = texts.get(limit.plan)
  if (known !== undefined) return known
  const { tag, codec } = limit.algorithm
  const numbers = codec.encodePlan(limit.plan)
  const kind = KINDS[tag] as number
  const filled = [kind, tag === 'tb' ? planIdOf(numbers) : (numbers[1] as number), ...numbers]
  while (filled.length < PLAN_WIDTH) filled.push(0)
  const text = filled.join()
  texts.set(limit.plan, text)
  return text
}

/** The plan id of a bucket: the first 60 bits of the SHA-256 of its numbers. */
export function planIdOf(numbers: readonly number[]): bigint {
  return BigInt(`0x${sha256(numbers.join(' ')).slice(0, 15)}`)
}

export function hasFunctions({ algorithm }: AnyLimit): boolean {
  return Object.hasOwn(KINDS, algorithm.tag)
}

export function arrayText(items: readonly (string | number)[]): string {
  return `{${items.join()}}`
}
