import type { AnyLimit } from '../../algorithms/algorithm.ts'
import type { BucketPlan } from '../../algorithms/bucket-plan.ts'
import { encodeKey } from '../../keys/encode.ts'
import type { Micros } from '../../time/micros.ts'
import type { Call, CallGroup, Change, Scope, StateId } from '../store.ts'
import { isTold, type Named } from './layout.ts'
import { bucketsProgram, consumeProgram, type Program } from './programs.gen.ts'
import { isSmall, mostOf, rowOf } from './rows.ts'

/** One state of a request. */
export interface AskedState extends Named {
  readonly scope: string
  /** Whether it may not be created. */
  readonly closed: boolean
  /** Whether the call created it. */
  made: boolean
  /** The last run on this state, if no other call has used it since. */
  run: Run | undefined
  /** Its index among the program's keys, from 1. */
  place: number
}

/** Consecutive groups of one call each on one state. */
export interface Run {
  readonly state: AskedState
  readonly row: Row | undefined
  times: number
  passed: number
}

/** A group that is not part of a run. */
export interface Whole {
  readonly states: readonly AskedState[]
  readonly rows: readonly Row[]
  passed: number
}

interface Row {
  /** Its index in the argument, from 1. */
  readonly place: number
}

/** The arguments of a program, and the mapping of its reply to the groups. */
export interface Question {
  readonly program: Program
  readonly args: readonly (string | number)[]
  readonly states: readonly AskedState[]
  /** By group; undefined for one without calls. */
  readonly parts: readonly (Run | Whole | undefined)[]
  /** In the program's order. */
  readonly order: readonly (Run | Whole)[]
}

/**
 * Encodes groups for the program that is fastest for them.
 * @param isClosed whether no state of a scope may be created
 * @param extra microseconds that states are kept after they are needed
 */
export function questionOf(
  groups: readonly CallGroup[],
  now: Micros | undefined,
  charge: boolean,
  packed: boolean,
  isClosed: (scope: string) => boolean,
  extra: Micros,
): Question {
  const first = groups[0]?.calls[0]
  const alike = first !== undefined && charge && !packed && now === undefined && areAlike(groups, first)
  if (alike && !isAnyClosed(groups, isClosed)) return alikeQuestion(groups, first, extra)
  return mixedQuestion(groups, now ?? 0, charge, isClosed)
}

/** Whether a state of one of them may not be created; most calls have the same scope. */
function isAnyClosed(groups: readonly CallGroup[], isClosed: (scope: string) => boolean): boolean {
  let last: Scope | undefined
  for (let index = 0; index < groups.length; index += 1) {
    const scope = groups[index]?.calls[0]?.id.scope
    if (scope === last || scope === undefined) continue
    if (isClosed(scope.text)) return true
    last = scope
  }
  return false
}

/** Whether all are calls of one cost, each a group of its own, on buckets of one limit. */
function areAlike(groups: readonly CallGroup[], { limit, cost }: Call): boolean {
  if (limit.algorithm.tag !== 'tb' || !isSmall(limit.plan as BucketPlan) || groups.length > MAX_ALIKE) return false
  return groups.every(({ calls }) => calls.length === 1 && calls[0]?.limit === limit && calls[0].cost === cost)
}

/** The most keys of one program call. */
const MAX_ALIKE = 4_000

/** Encodes the request as buckets.lua documents. */
function alikeQuestion(groups: readonly CallGroup[], { limit, cost }: Call, extra: Micros): Question {
  const plan = limit.plan as BucketPlan
  const runs = new Map<string, Run>()
  let last: { readonly id: StateId; readonly run: Run } | undefined
  const parts = groups.map(({ calls }): Run => {
    const call = calls[0] as Call
    const { id } = call
    // On a busy key most calls equal their neighbour, and building its name is most of the work of a request.
    if (last !== undefined && last.id.key === id.key && last.id.scope === id.scope) {
      last.run.times += 1
      return last.run
    }
    const key = encodeKey(id.key)
    const name = id.scope.text + key
    let run = runs.get(name)
    if (run === undefined)
      runs.set(name, (run = { state: newState(call, name, key, runs.size + 1, false), row: undefined, times: 1, passed: 0 }))
    else run.times += 1
    last = { id, run }
    return run
  })
  const order = [...runs.values()]
  const asked = order.map(({ state }) => state)
  const times = parts.length === order.length ? [] : order.map((run) => run.times)
  return { program: bucketsProgram, args: [plan.n, plan.m, plan.burst, mostOf(plan, cost), extra, ...times], states: asked, parts, order }
}

function newState({ id, limit }: Call, name: string, key: string, place: number, closed: boolean): AskedState {
  return { name, key, told: isTold(limit), scope: id.scope.text, closed, made: false, run: undefined, place }
}

/** Encodes the request as consume.lua documents. */
function mixedQuestion(groups: readonly CallGroup[], now: number, charge: boolean, isClosed: (scope: string) => boolean): Question {
  const states = new Map<string, AskedState>()
  const rows = createRows()
  const order: (Run | Whole)[] = []
  const scopes = new Map<string, boolean>()
  const stateOf = (call: Call): AskedState => {
    const key = encodeKey(call.id.key)
    const { text } = call.id.scope
    const name = text + key
    return entry(states, name, () => {
      return newState(
        call,
        name,
        key,
        0,
        entry(scopes, text, () => isClosed(text)),
      )
    })
  }
  const parts = groups.map(({ calls }): Run | Whole | undefined => {
    const [first] = calls
    if (first === undefined) return undefined
    if (calls.length === 1) {
      const [state, row] = [stateOf(first), rows.of(first)]
      if (!state.told) {
        // Runs of other states do not touch this one, so its calls may be encoded in a row.
        if (state.run?.row === row) {
          state.run.times += 1
          return state.run
        }
        state.run = { state, row, times: 1, passed: 0 }
        order.push(state.run)
        return state.run
      }
    }
    const whole: Whole = { states: calls.map(stateOf), rows: calls.map(rows.of), passed: 0 }
    for (const state of whole.states) state.run = undefined
    order.push(whole)
    return whole
  })
  const sorted = [...states.values()]
  if (sorted.some(({ told }) => told)) sorted.sort((one, other) => Number(one.told) - Number(other.told))
  sorted.forEach((state, index) => (state.place = index + 1))
  const plain = sorted.findIndex(({ told }) => told)
  const closed = sorted.filter((state) => state.closed).map(({ place }) => place)
  const known = [...rows.numbers, ...closed]
  const numbers = [now, (charge ? 1 : 0) + 2 * closed.length, plain === -1 ? sorted.length : plain, known.length, ...known]
  for (let index = 0; index < order.length;) index = tell(order, index, numbers)
  return { program: consumeProgram, args: [`[${numbers.join(',')}]`], states: sorted, parts, order }
}

/** Writes one part, or merges runs over neighbouring states into one; returns the index of the next part. */
function tell(order: readonly (Run | Whole)[], from: number, numbers: number[]): number {
  const part = order[from] as Run | Whole
  if ('states' in part) {
    numbers.push(part.states.length)
    for (const [index, state] of part.states.entries()) numbers.push(state.place, (part.rows[index] as Row).place)
    return from + 1
  }
  const { row, times, state } = part
  let next = from + 1
  for (; next < order.length; next += 1) {
    const other = order[next] as Run | Whole
    if ('states' in other || other.row !== row || other.times !== times || other.state.place !== state.place + next - from) break
  }
  numbers.push(0, (row as Row).place, state.place, state.place + next - from - 1, times)
  return next
}

export type Adjustment = Extract<Change, { readonly kind: 'adjust' }>

/** Encodes adjustments of one receipt as adjust.lua documents. */
export function adjustmentArgument(adjustments: readonly Adjustment[], now: Micros): string {
  const rows: number[] = []
  const from = 4 + 2 * adjustments.length
  const places = adjustments.flatMap(({ call: { limit, phase }, amount }) => {
    const place = from + rows.length
    rows.push(...rowOf(limit, Math.abs(amount), phase))
    return [place, Math.sign(amount)]
  })
  return `[${[now, adjustments[0]?.receipt ?? -1, adjustments.length, ...places, ...rows].join(',')}]`
}

/** Where the rows begin in the argument, from 1. */
const ROWS_FROM = 5

/** Stores each different limit, cost and phase once; the last one is found without a lookup. */
function createRows(): { readonly numbers: number[]; of(call: Call): Row } {
  const numbers: number[] = []
  const known = new Map<AnyLimit, Map<number, Map<number, Row>>>()
  let last: { readonly limit: AnyLimit; readonly cost: number; readonly phase: number; readonly row: Row } | undefined
  const find = (limit: AnyLimit, cost: number, phase: number): Row => {
    const costs = entry(known, limit, () => new Map<number, Map<number, Row>>())
    const phases = entry(costs, cost, () => new Map<number, Row>())
    return entry(phases, phase, () => {
      const row = { place: ROWS_FROM + numbers.length }
      numbers.push(...rowOf(limit, cost, phase))
      return row
    })
  }
  return {
    numbers,
    of({ limit, cost, phase }) {
      if (last?.limit !== limit || last.cost !== cost || last.phase !== phase) last = { limit, cost, phase, row: find(limit, cost, phase) }
      return last.row
    },
  }
}

function entry<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key)
  if (known !== undefined) return known
  const made = make()
  map.set(key, made)
  return made
}
