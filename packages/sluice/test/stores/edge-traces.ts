import { expect } from 'vitest'
import type { AlgorithmTag, AnyLimit } from '../../src/algorithms/algorithm.ts'
import { type BucketPlan, floorDiv, levelAt, type Zero } from '../../src/algorithms/bucket-plan.ts'
import { concurrency } from '../../src/algorithms/concurrency.ts'
import { holdRecord, type HoldState, partName, RECORD_COST } from '../../src/algorithms/hold-record.ts'
import { fixedWindow } from '../../src/algorithms/fixed-window.ts'
import { slidingWindowCounter } from '../../src/algorithms/sliding-window-counter.ts'
import { slidingWindowLog } from '../../src/algorithms/sliding-window-log.ts'
import { tokenBucket } from '../../src/algorithms/token-bucket.ts'
import { stateName } from '../../src/keys/encode.ts'
import { phaseOf } from '../../src/limiter/phase.ts'
import type { Call, CallGroup, Change, StateId } from '../../src/stores/store.ts'
import { seeded } from '../../src/testing/random.ts'
import type { ReferenceState } from '../../src/testing/reference.ts'
import { changeBoth, decideBoth, type Pair, peekBoth, START } from '../../src/testing/store-suite/bench.ts'
import { heldGroup, recordOf, settlementOf } from '../../src/testing/store-suite/held.ts'
import { scopesOf } from '../../src/testing/traces.ts'
import type { Micros } from '../../src/time/micros.ts'

const SECOND = 1_000_000
const MINUTE = 60 * SECOND
const DAY = 24 * 60 * MINUTE
/** Records whose numbers are smaller are short. */
const SHORT = 2 ** 40
const SCOPES = scopesOf('edges')

/** Limits by algorithm. On one key, the limits of an algorithm are used in turn. */
const EDGE_LIMITS: Readonly<Record<AlgorithmTag, readonly AnyLimit[]>> = {
  tb: [
    tokenBucket({ rate: '10/s', burst: 10 }),
    tokenBucket({ rate: '7/s', burst: 13 }),
    tokenBucket({ rate: '100/min', burst: 20 }),
    tokenBucket({ rate: '333.333333/s', burst: '2.5' }),
    tokenBucket({ rate: '1/365d', burst: 100 }),
    tokenBucket({ rate: '1/d', burst: 20_800 }),
    tokenBucket({ rate: '5000000/h', burst: 1_500_000 }),
    tokenBucket({ rate: '200/s', burst: 200 }),
  ],
  fw: [
    fixedWindow({ limit: 10, window: '1s' }),
    fixedWindow({ limit: 7, window: '7s', align: 'first' }),
    fixedWindow({ limit: 20, window: '30s', align: 'key', ramp: '10s' }),
  ],
  sc: [
    slidingWindowCounter({ limit: 10, window: '1s' }),
    slidingWindowCounter({ limit: 7, window: '7s' }),
    slidingWindowCounter({ limit: '2.5', window: '3333us' }),
  ],
  sl: [slidingWindowLog({ limit: 10, window: '1s' }), slidingWindowLog({ limit: '2.5', window: '7s' })],
  cc: [concurrency({ limit: 3, holdMs: 5_000 }), concurrency({ limit: 5, holdMs: 1_000 }), concurrency({ limit: '4.5', holdMs: 1 })],
}

/** The algorithms of which there are traces. */
export const EDGE_TAGS = Object.keys(EDGE_LIMITS) as readonly AlgorithmTag[]

/** A store and the reference that it is compared with, and how the store's states are read. */
export interface Edges extends Pair {
  /** The numbers of a state in the store, in the form of the algorithm's codec. Undefined if there is no state. */
  readonly numbersOf: (id: StateId) => Promise<readonly number[] | undefined>
  /** Changes a limit before the reference uses it, such as to a limit whose buckets may have leases. */
  readonly as?: (limit: AnyLimit) => AnyLimit
  /** Leases tokens of a bucket. The reference then takes over the state of the store. Absent if the store has no leases. */
  readonly lease?: (call: Call, want: number, now: Micros) => Promise<void>
}

interface Open {
  readonly calls: readonly Call[]
  readonly id: string
}

/** A trace that runs: the limits and holds that were drawn so far, the time, and the random numbers. */
interface Trace {
  readonly edges: Edges
  readonly main: AlgorithmTag
  readonly key: string
  /** The present limit of each algorithm. */
  readonly plans: Map<AlgorithmTag, AnyLimit>
  readonly open: Open[]
  /** Every state that the reference ever had, by name. */
  readonly ids: Map<string, StateId>
  now: Micros
  latest: Micros
  /** The instants at which blocks end. Time never steps back over one, because a store may forget a block that has ended. */
  readonly ends: Micros[]
  made: number
  readonly random: () => number
  readonly pick: (count: number) => number
  readonly oneOf: <T>(from: readonly T[]) => T
}

/**
 * Makes random holds, slots, refunds and calls on one key, in a store and in the reference. After each step, both have the same states.
 * Most steps are at an instant at which something begins or ends, or a microsecond before or after it. Most amounts are a limit's capacity,
 * a count, what a bucket has, or what it had room for. They may be a millionth of a token more or less.
 * @param main the algorithm that most calls use
 */
export async function edgeTrace(edges: Edges, main: AlgorithmTag, seed: number, steps: number): Promise<void> {
  const random = seeded(seed)
  const pick = (count: number): number => Math.floor(random() * count)
  const oneOf = <T>(from: readonly T[]): T => from[pick(from.length)] as T
  const key = `edges ${main} ${seed}`
  const [plans, ids] = [new Map(), new Map()]
  const trace: Trace = { edges, main, key, plans, open: [], ids, ends: [], now: START, latest: START, made: 0, random, pick, oneOf }
  for (let step = 0; step < steps; step += 1) {
    advance(trace)
    await act(trace)
    if (pick(12) === 0) trace.plans.delete(pick(2) === 0 ? main : tagOf(trace))
    await compare(trace)
  }
}

/** Makes one step of a trace, in the store and in the reference. */
async function act(trace: Trace): Promise<void> {
  const { edges, open, now, pick, oneOf } = trace
  const kind = pick(20)
  if (kind === 9 && edges.lease !== undefined) return lease(trace)
  if (kind > 9 && open.length > 0) {
    const changes = Array.from({ length: oneOf([1, 1, 2, 3]) }, () => changeOf(trace))
    return void (await changeBoth(edges, changes, now))
  }
  const groups = Array.from({ length: oneOf([1, 1, 2, 4]) }, () => groupOf(trace))
  if (pick(8) === 0) await peekBoth(edges, groups, now)
  const [answers, expected] = await decideBoth(edges, groups, now)
  expect(answers).toEqual(expected)
}

/** Leases tokens of a bucket in the store. The reference has no leases, so it takes over the state that the store has after that. */
async function lease(trace: Trace): Promise<void> {
  const { edges, now, random } = trace
  const call = callOf(trace, 'tb')
  const { algorithm, plan, capacity } = call.limit
  await edges.lease?.(call, Math.ceil(capacity * SECOND * random()), now)
  const numbers = await edges.numbersOf(call.id)
  if (numbers === undefined) return
  const state: unknown = algorithm.codec.decodeState(numbers)
  edges.reference.states.set(stateName(call.id), { id: call.id, state, numbers, expires: algorithm.expiresAt(plan, state) })
}

async function compare(trace: Trace): Promise<void> {
  const { edges, ids, latest } = trace
  for (const { id } of statesOf(trace)) ids.set(stateName(id), id)
  const check = async (name: string, id: StateId): Promise<void> => {
    const [found, expected] = [await edges.numbersOf(id), edges.reference.states.get(name)]
    // A store may delete what is expired.
    if (found === undefined && expected !== undefined && expected.expires <= latest) return
    expect([id, found]).toEqual([id, expected?.numbers])
  }
  await Promise.all([...ids].map(([name, id]) => check(name, id)))
}

function tagOf({ main, oneOf }: Trace): AlgorithmTag {
  return oneOf([main, main, main, ...EDGE_TAGS])
}

function limitOf({ plans, oneOf, edges: { as = (limit) => limit } }: Trace, tag: AlgorithmTag): AnyLimit {
  const limit = plans.get(tag) ?? as(oneOf(EDGE_LIMITS[tag]))
  plans.set(tag, limit)
  return limit
}

function statesOf({ edges: { reference }, key }: Trace): readonly ReferenceState[] {
  return [...reference.states.values()].filter(({ id }) => id.key === key)
}

function windowOf({ windowMs }: AnyLimit): Micros {
  return Math.min(windowMs * 1_000, 40 * DAY)
}

/** Instants at which something begins or ends. */
function edgesOfTime(trace: Trace): Micros[] {
  const spans = [0, MINUTE, ...[...trace.plans.values()].flatMap((limit) => [windowOf(limit), -windowOf(limit)])]
  const instants = [...trace.ends, ...statesOf(trace).flatMap(({ numbers, expires }) => [...numbers, expires])]
  return instants.flatMap((at) => spans.map((span) => at + span))
}

/** Goes to the instant of the next step. */
function advance(trace: Trace): void {
  const { now, random, pick } = trace
  const kind = random()
  const later = edgesOfTime(trace).flatMap((at) => [at - 1, at, at + 1].filter((time) => time > now && time < now + 40 * DAY))
  // Most steps are to the next instants: holds end soon.
  const next = later.sort((one, other) => one - other)[Math.floor(random() ** 3 * later.length)]
  if (kind > 0.95) trace.now += Math.floor(random() ** 3 * 2 * windowOf(limitOf(trace, trace.main)))
  else if (kind > 0.9) trace.now = Math.max(now - pick(2 * SECOND), ...trace.ends.filter((end) => end <= trace.latest))
  else if (kind > 0.4 && next !== undefined) trace.now = next
  trace.latest = Math.max(trace.latest, trace.now)
}

/** Amounts in micro-tokens: what a bucket has, and for each hold, the part of it for which the bucket had no room since the charge. */
function amountsOfBucket(trace: Trace, { limit, id }: Call): number[] {
  const state = trace.edges.reference.states.get(stateName(id))?.state as (Zero & { readonly seen: Micros }) | undefined
  if (limit.algorithm.tag !== 'tb' || state === undefined) return []
  const plan = limit.plan as BucketPlan
  const time = Math.max(trace.now, state.seen)
  const [n, m, burst] = [BigInt(plan.n), BigInt(plan.m), BigInt(plan.burst)]
  const level = levelAt(plan, state, time)
  const debt = level < 0n ? -level : 0n
  const parts = statesOf(trace).flatMap(({ state: record }) => (record as Partial<HoldState>).parts ?? [])
  const rooms = parts.map(({ held, mark }) => held - Number(floorDiv(burst * m - BigInt(time - mark) * n - debt, m)))
  return [Number(floorDiv(level, m)), ...rooms]
}

/** Draws an amount in micro-tokens that is critical for a limit of which `held` was charged. */
function amountOf(trace: Trace, call: Call, held: number, least: number): number {
  const { random, pick, oneOf } = trace
  const cap = Math.round(call.limit.capacity * SECOND)
  const counts = (trace.edges.reference.numbersOf(call.id) ?? []).filter((count) => count <= 2 * cap)
  const own = [...counts, ...amountsOfBucket(trace, call)]
  const edges = [0, held, cap, 2 * cap, held + cap, held + 2 * cap, SHORT, held + SHORT]
  const near = own.flatMap((count) => [count, cap - count, held - count, held + cap + count, held + 2 * cap - count])
  const kind = random()
  const drawn =
    kind < 0.2
      ? least
      : kind < 0.4
        ? Math.floor(random() * (held + cap))
        : kind < 0.6
          ? oneOf(edges)
          : oneOf([...edges, ...near]) + pick(3) - 1
  return Number.isSafeInteger(drawn) && drawn >= least ? drawn : Math.max(least, held)
}

function callOf(trace: Trace, tag: AlgorithmTag): Call {
  const { key, random } = trace
  const limit = limitOf(trace, tag)
  const one: Call = { id: { scope: SCOPES[tag], key }, limit, cost: SECOND, phase: phaseOf(limit, key) }
  const modest = Math.max(1, Math.ceil(random() ** 2 * limit.capacity * SECOND))
  return { ...one, cost: random() < 0.7 ? modest : amountOf(trace, one, 0, 1) }
}

function callsOf(trace: Trace): readonly Call[] {
  const tags = new Set(Array.from({ length: trace.oneOf([1, 1, 1, 2, 3]) }, () => tagOf(trace)))
  const calls = [...tags].map((tag) => callOf(trace, tag))
  return trace.pick(25) === 0 ? [...calls, calls[0] as Call] : calls
}

function groupOf(trace: Trace): CallGroup {
  const { main, open, pick, oneOf } = trace
  const kind = pick(20)
  if (kind < 3) return { calls: [callOf(trace, 'cc')], options: { hold: { id: `h${pick(4)}`, micros: oneOf([1, SECOND, 9 * SECOND]) } } }
  const calls = callsOf(trace)
  if (kind < 5) return { calls }
  const id = kind < 8 && open.length > 0 ? oneOf(open).id : `t${(trace.made += 1)}`
  const micros = oneOf([1, SECOND, 1 + pick(MINUTE), windowOf(limitOf(trace, main)), SHORT - 1, SHORT])
  open.push({ calls, id })
  if (open.length > 5) open.shift()
  const held = heldGroup(calls, id, micros)
  if (kind === 8) return { ...held, calls: [...calls, finalRecord(calls, id, micros)] }
  const canWait = kind === 9 && calls.every(({ limit }) => limit.algorithm.ahead !== undefined)
  return canWait ? { ...held, options: { ...held.options, maxWait: oneOf([SECOND, MINUTE]) } } : held
}

/** A record of which nothing is to be settled. */
function finalRecord(calls: readonly Call[], id: string, micros: Micros): Call {
  const parts = calls.map(({ id: { scope }, cost }) => ({ name: partName(scope.text), held: cost }))
  const [first] = calls as readonly [Call]
  return { id: recordOf(first.id.key, id), limit: holdRecord({ micros, final: true, parts }), cost: RECORD_COST, phase: 0 }
}

/**
 * Draws the calls that a change names for a hold. Their limits may have changed. They may be in another order, and there may be more or
 * fewer of them.
 */
function changedCalls(trace: Trace, calls: readonly Call[]): readonly Call[] {
  const current = calls.map((one) => ({ ...one, limit: limitOf(trace, one.limit.algorithm.tag) }))
  const more = [...current, callOf(trace, tagOf(trace))]
  const fewer = current.length > 1 ? current.slice(1) : calls
  return trace.oneOf([calls, calls, calls, current, current, current.toReversed(), fewer, more])
}

function changeOf(trace: Trace): Change {
  const { main, key, open, now, pick, oneOf } = trace
  const held = oneOf(open)
  const kind = pick(20)
  if (kind === 16 || (kind === 12 && main === 'cc'))
    return { kind: 'release', call: callOf(trace, 'cc'), holder: pick(2) === 0 ? held.id : `h${pick(4)}` }
  const one = callOf(trace, main)
  if (kind === 17 && pick(2) === 0) return { kind: 'unblock', id: one.id }
  if (kind === 17) {
    const micros = pick(2) * SECOND
    trace.ends.push(now + micros)
    return { kind: 'block', id: one.id, micros }
  }
  if (kind > 17) {
    const receipts = [now, ...edgesOfTime(trace)].filter((at) => at >= 0 && Number.isSafeInteger(at))
    const receipt = pick(3) === 0 ? undefined : oneOf(receipts)
    return { kind: 'adjust', call: one, amount: (pick(2) === 0 ? -1 : 1) * amountOf(trace, one, 0, 1), receipt }
  }
  const calls = changedCalls(trace, held.calls)
  if (kind > 12) {
    const micros = oneOf([0, 1, SECOND, MINUTE, 10 * MINUTE, SHORT, windowOf(limitOf(trace, main))])
    return { kind: 'extend', id: recordOf(key, held.id), calls, holder: held.id, micros }
  }
  const heldOf = (call: Call): number => held.calls.find(({ id }) => id.scope === call.id.scope)?.cost ?? call.cost
  // Calls of one state have used the same.
  const amounts = new Map(calls.map((call) => [call.id.scope, amountOf(trace, call, heldOf(call), 0)]))
  const used = calls.map((call) => ({ ...call, cost: amounts.get(call.id.scope) as number }))
  const change = settlementOf(used, held.id, kind === 0 ? undefined : 0)
  return change.kind === 'settle' ? { ...change, calls: used } : change
}
