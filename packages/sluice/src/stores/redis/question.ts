import type { AnyLimit, MicroTokens } from '../../algorithms/algorithm.ts'
import { stateName } from '../../keys/encode.ts'
import type { Micros } from '../../time/micros.ts'
import type { AdjustOptions, Call, CallGroup } from '../store.ts'
import { rowOf } from './rows.ts'

/** One state of a question. */
export interface AskedState {
  readonly name: string
  /** Its verdicts are told by the program. */
  readonly told: boolean
  /** The run that asked it last, as long as nothing else did. */
  run: Run | undefined
  /** Among the program's keys, from 1. */
  place: number
}

/** Groups of one call each on one state, one after the other. */
export interface Run {
  readonly state: AskedState
  readonly row: Row
  times: number
  passed: number
}

/** A group as it is. */
export interface Whole {
  readonly states: readonly AskedState[]
  readonly rows: readonly Row[]
  passed: number
}

interface Row {
  readonly numbers: readonly number[]
  /** In the argument, from 1. */
  place: number
}

/** What is asked of the consume program, and how its answer belongs to the groups. */
export interface Question {
  readonly states: readonly AskedState[]
  /** By group; undefined for one without calls. */
  readonly parts: readonly (Run | Whole | undefined)[]
  /** In the program's order. */
  readonly order: readonly (Run | Whole)[]
  readonly argument: string
}

/** Puts groups into the form that consume.lua documents. */
export function questionOf(groups: readonly CallGroup[], now: Micros, charge: boolean): Question {
  const states = new Map<string, AskedState>()
  const rows = createRows()
  const order: (Run | Whole)[] = []
  const stateOf = ({ id, limit }: Call): AskedState => {
    const name = stateName(id)
    let state = states.get(name)
    if (state === undefined) {
      state = { name, told: limit.algorithm.cells === 'log', run: undefined, place: 0 }
      states.set(name, state)
    }
    return state
  }
  const parts = groups.map(({ calls }): Run | Whole | undefined => {
    const [first] = calls
    if (first === undefined) return undefined
    if (calls.length === 1) {
      const [state, row] = [stateOf(first), rows.of(first)]
      if (!state.told) {
        // Runs of other states do not touch this one: its calls may be told in a row.
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
  const numbers = [now, charge ? 1 : 0, plain === -1 ? sorted.length : plain, rows.numbers.length, ...rows.numbers]
  for (let index = 0; index < order.length;) index = tell(order, index, numbers)
  return { states: sorted, parts, order, argument: `[${numbers.join(',')}]` }
}

/** Calls and amounts in the form that adjust.lua documents. */
export function adjustment(calls: readonly Call[], amounts: readonly MicroTokens[], options: AdjustOptions = {}): string {
  const rows: number[] = []
  const from = 4 + 2 * calls.length
  const places = calls.flatMap(({ limit, phase }, index) => {
    const amount = amounts[index] as MicroTokens
    const place = from + rows.length
    rows.push(...rowOf(limit, Math.abs(amount), phase))
    return [place, Math.sign(amount)]
  })
  return `[${[options.now ?? 0, options.receipt ?? -1, calls.length, ...places, ...rows].join(',')}]`
}

/** Writes one part, or runs over neighbouring states as one; the place of the next. */
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
  numbers.push(0, row.place, state.place, state.place + next - from - 1, times)
  return next
}

/** Where the rows begin in the argument, from 1. */
const ROWS_FROM = 5

/** Each different limit, cost and phase once; the last one is found without looking. */
function createRows(): { readonly numbers: number[]; of(call: Call): Row } {
  const numbers: number[] = []
  const known = new Map<AnyLimit, Map<number, Map<number, Row>>>()
  let last: { readonly limit: AnyLimit; readonly cost: number; readonly phase: number; readonly row: Row } | undefined
  const find = (limit: AnyLimit, cost: number, phase: number): Row => {
    const costs = entry(known, limit, () => new Map<number, Map<number, Row>>())
    const phases = entry(costs, cost, () => new Map<number, Row>())
    return entry(phases, phase, () => {
      const row = { numbers: rowOf(limit, cost, phase), place: ROWS_FROM + numbers.length }
      numbers.push(...row.numbers)
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
