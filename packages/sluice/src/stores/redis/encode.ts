import type { AlgorithmTag, AnyLimit, MicroTokens } from '../../algorithms/algorithm.ts'
import { type BucketPlan, spanOf } from '../../algorithms/bucket-plan.ts'
import { type FixedWindowPlan, shiftOf } from '../../algorithms/fixed-window-plan.ts'
import type { ConcurrencyPlan } from '../../algorithms/concurrency.ts'
import { type HOLD_TAG, type HoldPlan, isRecord } from '../../algorithms/hold-record.ts'
import type { LogPlan } from '../../algorithms/sliding-window-log.ts'
import type { Micros } from '../../time/micros.ts'
import type { Batch, BatchEntry, BatchState } from '../batch/batch.ts'
import type { Adjustment } from '../batch/change-runs.ts'
import type { Call, DecideOptions } from '../store.ts'
import { bucketsProgram, consumeProgram, type Program, reserveProgram } from './programs.gen.ts'

export interface Request {
  readonly program: Program
  readonly states: readonly BatchState[]
  readonly args: readonly (string | number)[]
}

/** The most keys of one call of buckets.lua or reserve.lua. */
const MAX_KEYS = 4_000

/**
 * Chooses buckets.lua for equal calls of one token bucket limit, reserve.lua for calls of one such limit that each make a hold, else
 * consume.lua.
 * @param isPlain whether each state is a string of its own
 * @param closed states that may not be created
 * @param extra microseconds for which states are kept after they are needed
 */
export function requestOf(batch: Batch, options: DecideOptions, isPlain: boolean, closed: ReadonlySet<BatchState>, extra: Micros): Request {
  const { states, descriptors, entries } = batch
  const [call] = descriptors
  const isShort = options.charge !== false && isPlain && options.now === undefined && closed.size === 0 && states.length <= MAX_KEYS
  if (isShort && call?.limit.algorithm.tag === 'tb') {
    const plan = call.limit.plan as BucketPlan
    if (isSmall(plan) && plan.ahead === 0) {
      if (batch.alike) {
        const times = entries.every((entry) => entry.times === 1) ? [] : entries.map((entry) => entry.times)
        return { program: bucketsProgram, states, args: [plan.n, plan.m, plan.burst, cappedCost(plan, call.cost), extra, ...times] }
      }
      const args = reservedArguments(batch, plan, extra)
      if (args !== undefined) return { program: reserveProgram, states, args }
    }
  }
  return consumeRequest(batch, options, closed)
}

/** Undefined if reserve.lua cannot decide the batch. */
function reservedArguments({ states, descriptors, entries }: Batch, plan: BucketPlan, extra: Micros): number[] | undefined {
  const first = descriptors[entries[0]?.descriptors[1] ?? -1]
  if (first === undefined || !isRecord(first.limit)) return undefined
  const hold = first.limit.plan as HoldPlan
  const name = hold.parts[0]?.name as number
  for (const { descriptors: own } of entries) {
    const [call, record] = [descriptors[own[0] as number] as Call, descriptors[own[1] as number]]
    if (own.length !== 2 || call.limit.plan !== plan || record === undefined || !isRecord(record.limit)) return undefined
    const { micros, final, parts } = record.limit.plan as HoldPlan
    const isSame = micros === hold.micros && final === hold.final && parts.length === 1 && parts[0]?.name === name
    if (!isSame || parts[0]?.held !== call.cost) return undefined
  }
  const args = [plan.n, plan.m, plan.burst, extra, hold.micros, hold.final ? 1 : 0, name]
  const isAlike = descriptors.length === 2 && states.length === 2 * entries.length
  for (const { states: own, descriptors: indexes } of isAlike ? entries.slice(0, 1) : entries) {
    const { cost } = descriptors[indexes[0] as number] as Call
    if (!isAlike) args.push(...own.map(keyIndexOf))
    args.push(cappedCost(plan, cost), cost)
  }
  return args
}

/** Encodes a batch as consume.lua documents. */
export function consumeRequest(
  { states, descriptors, entries }: Batch,
  { now = 0, charge = true }: DecideOptions,
  closed: ReadonlySet<BatchState>,
): Request {
  const plain = states.filter(({ isLog }) => !isLog)
  const sorted = plain.length === states.length ? states : [...plain, ...states.filter(({ isLog }) => isLog)]
  for (let index = 0; index < sorted.length; index += 1) (sorted[index] as BatchState).index = index
  const encoded: number[] = []
  const indexes = descriptors.map(({ limit, cost, phase }) => {
    const index = DESCRIPTORS_FROM + encoded.length
    encoded.push(...descriptorOf(limit, cost, phase))
    return index
  })
  const known = [...encoded, ...[...closed].map(keyIndexOf)]
  const numbers = [now, (charge ? 1 : 0) + 2 * closed.size, plain.length, known.length, ...known]
  for (let index = 0; index < entries.length;) index = encodeEntries(entries, index, indexes, numbers)
  return { program: consumeProgram, states: sorted, args: [`[${numbers.join(',')}]`] }
}

/** The index, from 1, of the first limit descriptor. */
const DESCRIPTORS_FROM = 5

/** Lua counts from 1. */
function keyIndexOf({ index }: BatchState): number {
  return index + 1
}

/**
 * Writes an entry, in one run with the equal entries that follow on states of successive indexes.
 * @returns the index of the next entry that is not written yet
 */
function encodeEntries(entries: readonly BatchEntry[], from: number, indexes: readonly number[], numbers: number[]): number {
  const { states, descriptors, times } = entries[from] as BatchEntry
  const [first] = states as readonly [BatchState]
  if (states.length > 1 || first.isLog) {
    numbers.push(states.length)
    for (let call = 0; call < states.length; call += 1)
      numbers.push(keyIndexOf(states[call] as BatchState), indexes[descriptors[call] as number] as number)
    return from + 1
  }
  const [descriptor] = descriptors as readonly [number]
  let next = from + 1
  for (; next < entries.length; next += 1) {
    const other = entries[next] as BatchEntry
    const [state] = other.states as readonly [BatchState]
    const isNext = state.index === first.index + next - from && !state.isLog
    if (!isNext || other.states.length > 1 || other.descriptors[0] !== descriptor || other.times !== times) break
  }
  numbers.push(0, indexes[descriptor] as number, keyIndexOf(first), first.index + next - from, times)
  return next
}

/** Encodes adjustments of one receipt as adjust.lua documents. */
export function adjustmentArgument(adjustments: readonly Adjustment[], now: Micros): string {
  const encoded: number[] = []
  const from = 4 + 2 * adjustments.length
  const calls = adjustments.flatMap(({ call: { limit, phase }, amount }) => {
    const index = from + encoded.length
    encoded.push(...descriptorOf(limit, Math.abs(amount), phase))
    return [index, Math.sign(amount)]
  })
  return `[${[now, adjustments[0]?.receipt ?? -1, adjustments.length, ...calls, ...encoded].join(',')}]`
}

export function descriptorOf(limit: AnyLimit, cost: MicroTokens, phase: number): readonly number[] {
  return (DESCRIPTORS[limit.algorithm.tag] as DescriptorOf)(limit, cost, phase)
}

export function hasProgram({ algorithm }: AnyLimit): boolean {
  return Object.hasOwn(DESCRIPTORS, algorithm.tag)
}

type DescriptorOf = (limit: AnyLimit, cost: MicroTokens, phase: number) => readonly number[]

const DESCRIPTORS: Readonly<Partial<Record<AlgorithmTag | typeof HOLD_TAG, DescriptorOf>>> = {
  tb(limit, cost) {
    const plan = limit.plan as BucketPlan
    const { n, m, burst, emptyBefore, ahead } = plan
    const capped = cappedCost(plan, cost)
    if (isSmall(plan) && ahead === 0) return [0, n, m, burst, capped]
    const span = spanOf(plan, capped)
    const numbers = [n, m, burst, emptyBefore.micros, emptyBefore.rest, span.micros, span.rest]
    return ahead === 0 ? [4, ...numbers] : [5, ...numbers, ahead, capped]
  },
  fw({ algorithm, plan }, cost, phase) {
    const { align, window } = plan as FixedWindowPlan
    return [1, cost, ...algorithm.codec.encodePlan(plan), align === 'key' ? shiftOf(window, phase) : 0]
  },
  sc: ({ algorithm, plan }, cost) => [2, cost, ...algorithm.codec.encodePlan(plan)],
  sl({ plan }, cost) {
    const { limit, window, most } = plan as LogPlan
    return [3, cost, limit, window, most]
  },
  cc({ plan }, cost) {
    const { limit, hold, holder } = plan as ConcurrencyPlan
    return [7, cost, limit, hold, ...(holder === undefined ? [0, 0, 0] : [1, ...holder])]
  },
  ho({ plan }) {
    const { micros, final, parts } = plan as HoldPlan
    return [6, micros, final ? 1 : 0, parts.length, ...parts.flatMap(({ name, held }) => [name, held])]
  },
}

/** Whether products stay below 2^53, so that programs compute them exactly. */
function isSmall({ m, burst }: BucketPlan): boolean {
  return 2 * burst * m < Number.MAX_SAFE_INTEGER
}

/** Keeps numbers exact. Costs above two bursts have the same effect: they never fit, and an adjust moves at most two bursts. */
function cappedCost({ burst }: BucketPlan, cost: MicroTokens): MicroTokens {
  return Math.min(cost, 2 * burst)
}
