import type { AnyLimit } from '../../algorithms/algorithm.ts'
import { encodeKey } from '../../keys/encode.ts'
import type { Call, CallGroup } from '../store.ts'

export interface BatchState {
  /** The text of the scope (limiter, limit and algorithm), followed by `key`. */
  readonly name: string
  /** Encoded by `encodeKey`. */
  readonly key: string
  /** Its limit decodes the reply's numbers. */
  readonly first: Call
  /** The program returns the verdicts of a log's calls instead of the state, which may be long. */
  readonly isLog: boolean
  /** In the program's arguments and reply. A store may change the order. */
  index: number
  /** The last entry that uses this state. */
  entry: BatchEntry | undefined
}

/** A single group of calls; or a run, which is several equal groups of one call each. */
export interface BatchEntry {
  readonly states: readonly BatchState[]
  readonly descriptors: readonly number[]
  /** The number of groups; 1 unless it is a run. */
  times: number
  /** How many of the groups have passed in `replay`. */
  passed: number
}

/**
 * Groups of calls in the form that programs in Lua and SQL take. Each state is in it once, and so is each combination of limit, cost and
 * phase (a descriptor).
 *
 * The program replies with the time, each state as found, or the verdicts of a log's calls (see `isLog`), and how many groups of each
 * `BatchEntry` passed. This process then decides again on these states, and must find the same counts.
 */
export interface Batch {
  readonly states: readonly BatchState[]
  readonly descriptors: readonly Call[]
  readonly entries: readonly BatchEntry[]
  /** Undefined for a group without calls. */
  readonly byGroup: readonly (BatchEntry | undefined)[]
  /** Whether all groups are single calls with the same limit, cost and phase. */
  readonly alike: boolean
}

type IsLog = (limit: AnyLimit) => boolean

const variesInSize: IsLog = ({ algorithm }) => algorithm.cells === 'log'

/** @param isLog whether the server returns the verdicts of calls with this limit, not the state */
export function batchOf(groups: readonly CallGroup[], isLog: IsLog = variesInSize): Batch {
  const only = groups.length === 1 ? groups[0]?.calls : undefined
  if (only?.length === 1) return batchOfOne(only[0] as Call, isLog)
  const states = new Map<string, BatchState>()
  const { descriptors, indexOf } = createDescriptors()
  const entries: BatchEntry[] = []
  let last: BatchState | undefined
  const stateOf = (call: Call): BatchState => {
    const { id } = call
    // On a busy key, most calls have the same state as the call before. Building the name would take most of the time.
    if (last !== undefined && last.first.id.key === id.key && last.first.id.scope === id.scope) return last
    const state = newState(call, states.size, isLog)
    last = states.get(state.name)
    if (last === undefined) states.set(state.name, (last = state))
    return last
  }
  const added = (own: readonly BatchState[], indexes: readonly number[]): BatchEntry => {
    const entry = { states: own, descriptors: indexes, times: 1, passed: 0 }
    for (let index = 0; index < own.length; index += 1) (own[index] as BatchState).entry = entry
    entries.push(entry)
    return entry
  }
  let single = true
  const byGroup = groups.map(({ calls }): BatchEntry | undefined => {
    const first = calls[0]
    single &&= calls.length === 1
    if (first === undefined) return undefined
    if (calls.length > 1) return added(calls.map(stateOf), calls.map(indexOf))
    const state = stateOf(first)
    const index = indexOf(first)
    const { entry } = state
    if (entry === undefined || entry.states.length > 1 || state.isLog || entry.descriptors[0] !== index) return added([state], [index])
    // No later entry has this state, so the state's calls stay in their order.
    entry.times += 1
    return entry
  })
  return { states: [...states.values()], descriptors, entries, byGroup, alike: single && descriptors.length === 1 }
}

function batchOfOne(call: Call, isLog: IsLog): Batch {
  const state = newState(call, 0, isLog)
  const entries = [{ states: [state], descriptors: [0], times: 1, passed: 0 }]
  return { states: [state], descriptors: [call], entries, byGroup: entries, alike: true }
}

function newState(call: Call, index: number, isLog: IsLog): BatchState {
  const { id, limit } = call
  const key = encodeKey(id.key)
  return { name: id.scope.text + key, key, first: call, isLog: isLog(limit), index, entry: undefined }
}

function createDescriptors(): { readonly descriptors: readonly Call[]; indexOf(call: Call): number } {
  const descriptors: Call[] = []
  const known = new Map<AnyLimit, Map<string, number>>()
  const recent = new Map<AnyLimit, number>()
  let [last, index]: [Call | undefined, number] = [undefined, 0]
  const find = (call: Call): number => {
    const { limit, cost, phase } = call
    const before = recent.get(limit)
    if (before !== undefined && isAlike(descriptors[before], call)) return before
    let indexes = known.get(limit)
    if (indexes === undefined) known.set(limit, (indexes = new Map()))
    const name = `${cost} ${phase}`
    const found = indexes.get(name) ?? descriptors.push(call) - 1
    indexes.set(name, found)
    recent.set(limit, found)
    return found
  }
  return {
    descriptors,
    indexOf(call) {
      if (!isAlike(last, call)) index = find(call)
      last = call
      return index
    },
  }
}

function isAlike(one: Call | undefined, { limit, cost, phase }: Call): boolean {
  return one !== undefined && one.limit === limit && one.cost === cost && one.phase === phase
}
