import type { AlgorithmTag, AnyLimit } from '../../algorithms/algorithm.ts'
import { type BucketPlan, spanOf } from '../../algorithms/bucket-plan.ts'
import { stateName } from '../../keys/encode.ts'
import { sha256 } from '../../keys/sha256.ts'
import { noProgram } from '../no-program.ts'
import type { Call, CallGroup, StateId } from '../store.ts'

/** The values of the column `kind`. */
const KINDS: Readonly<Record<AlgorithmTag, number>> = { tb: 0, fw: 1, sc: 2, sl: 3 }
const PLAN_WIDTH = 8

/** The arguments of the function for a list of groups. */
export interface Question {
  /** Digests without duplicates, in order. */
  readonly ids: readonly string[]
  /** For each digest the limit and phase of its first call. */
  readonly firsts: readonly Call[]
  /** For each digest, the index of its first call's plan, from 1. */
  readonly firstPlans: readonly number[]
  /** Comma-separated: kind, plan id and numbers of each plan, eight in all. */
  readonly plans: readonly string[]
  /** For each call of all groups: its index in `ids`, from 0. */
  readonly slots: readonly number[]
  /** For each call of all groups, comma-separated: index in `ids` (from 1), cost, index in `plans` (from 1), phase. */
  readonly calls: readonly string[]
}

export function questionOf(groups: readonly CallGroup[]): Question {
  const bySlot = new Map<string, Call>()
  // A key that many calls share is digested once.
  const byName = new Map<string, string>()
  const all = groups.flatMap(({ calls }) => calls)
  const digests = all.map((call) => {
    const name = stateName(call.id)
    const known = byName.get(name)
    if (known !== undefined) return known
    const digest = digestOfName(name)
    byName.set(name, digest)
    bySlot.set(digest, call)
    return digest
  })
  const ids = [...bySlot.keys()].sort()
  const order = new Map(ids.map((id, slot) => [id, slot]))
  const plans = new Map<string, number>()
  const planOf = (limit: AnyLimit): number => {
    const text = planText(limit)
    const known = plans.get(text)
    if (known !== undefined) return known
    plans.set(text, plans.size + 1)
    return plans.size
  }
  const slots = digests.map((digest) => order.get(digest) as number)
  const calls = all.map(({ limit, cost, phase }, index) => `${(slots[index] as number) + 1},${cost},${planOf(limit)},${phase}`)
  const firsts = ids.map((id) => bySlot.get(id) as Call)
  const firstPlans = firsts.map(({ limit }) => planOf(limit))
  return { ids, firsts, firstPlans, plans: [...plans.keys()], slots, calls }
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

/**
 * Kind, plan id and numbers of a plan as the functions read them.
 * @throws LimiterError INVALID_OPTIONS for an algorithm that they do not support
 */
export function planText(limit: AnyLimit): string {
  const known = texts.get(limit.plan)
  if (known !== undefined) return known
  const { tag, codec } = limit.algorithm
  if (!Object.hasOwn(KINDS, tag)) throw noProgram('postgresStore', limit, KINDS)
  const numbers = codec.encodePlan(limit.plan)
  const kind = KINDS[tag]
  const filled = [kind, unitOf(kind, numbers), ...numbers]
  while (filled.length < PLAN_WIDTH) filled.push(0)
  const text = filled.join()
  texts.set(limit.plan, text)
  return text
}

/** The plan id: a window's length, or the first 60 bits of the SHA-256 of a bucket's numbers. */
function unitOf(kind: number, numbers: readonly number[]): bigint {
  return kind === KINDS.tb ? BigInt(`0x${sha256(numbers.join(' ')).slice(0, 15)}`) : BigInt(numbers[1] as number)
}

/** Calls of one cost to buckets of one plan, each a group of its own: the request, and the arguments of the functions for it. */
export interface BucketQuestion {
  readonly question: Question
  /** Whether all calls are for one bucket. Otherwise each is for a different one, and outcomes come in the order of the digests. */
  readonly one: boolean
  /**
   * The number of calls and the digest of the one bucket, or the digests of all; then plan id, n, m, burst, cost, and spans of the cost
   * and of a full bucket.
   */
  readonly values: readonly string[]
}

/** The request in this form; undefined if it does not have this form. */
export function bucketQuestion(groups: readonly CallGroup[]): BucketQuestion | undefined {
  const call = groups[0]?.calls[0]
  if (call === undefined || call.limit.algorithm.tag !== 'tb' || !groups.every((group) => asks(group, call))) return undefined
  const first = call.id
  const one = groups.every(({ calls: [next] }) => next?.id.key === first.key && next.id.scope === first.scope)
  const asked = one ? [digestOf(first)] : groups.map(({ calls: [next] }) => digestOf((next as Call).id))
  const ids = one ? asked : [...new Set(asked)].sort()
  if (!one && ids.length < groups.length) return undefined
  const text = planText(call.limit)
  const plan = call.limit.plan as BucketPlan
  const spent = spanOf(plan, Math.min(call.cost, plan.burst))
  const { micros, rest } = plan.emptyBefore
  const numbers = [plan.n, plan.m, plan.burst, call.cost, spent.micros, spent.rest, micros, rest]
  const order = new Map(ids.map((id, slot) => [id, slot]))
  const slots = one ? groups.map(() => 0) : asked.map((digest) => order.get(digest) as number)
  const question = { ids, firsts: ids.map(() => call), firstPlans: ids.map(() => 1), plans: [text], slots, calls: [] }
  const who = one ? [String(groups.length), ids[0] as string] : [arrayText(ids)]
  return { question, one, values: [...who, text.split(',', 2)[1] as string, ...numbers.map(String)] }
}

function asks({ calls }: CallGroup, { limit, cost }: Call): boolean {
  const [call] = calls
  return calls.length === 1 && call?.limit === limit && call.cost === cost
}

/** An array literal of PostgreSQL. */
export function arrayText(items: readonly (string | number)[]): string {
  return `{${items.join()}}`
}
