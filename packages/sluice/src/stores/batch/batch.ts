import type { AnyLimit } from '../../algorithms/algorithm.ts'
import { encodeKey } from '../../keys/encode.ts'
import type { Call, CallGroup } from '../store.ts'

/** One state of a batch. */
export interface BatchState {
  /** Scope and key. */
  readonly name: string
  /** As encoded by `encodeKey`. */
  readonly key: string
  /** The first call of it: its limit is that of the state where calls have different ones. */
  readonly first: Call
  /** Whether the state may be long: the program then returns the verdicts of its calls instead. */
  readonly isLog: boolean
  /** Its index in the arguments and the reply of the program; at first in the order of the calls. */
  index: number
  /** The last entry that uses it. */
  entry: BatchEntry | undefined
}

/** Consecutive groups of one and the same call (a run), or one group. */
export interface BatchEntry {
  /** By call. */
  readonly states: readonly BatchState[]
  /** By call: the index of its descriptor. */
  readonly descriptors: readonly number[]
  /** How many groups; 1 unless it is a run. */
  times: number
  /** How many of them the replay let pass. */
  passed: number
}

/**
 * Groups of calls as programs in Lua and SQL take them. Each section lists what is different in it once:
 *
 * 1. `states`, by name.
 * 2. `descriptors`: each limit, cost and phase.
 * 3. `entries`, in order: for each run its state, its descriptor and how often it is repeated; for each other group the state and the
 *    descriptor of each call.
 *
 * The reply has sections too: the time; what was found of each state (`FoundState`); for each call of a log its verdict
 * (`reported.ts`); and what passed, which the replay must confirm. How numbers and names are written is the store's own.
 */
export interface Batch {
  readonly states: readonly BatchState[]
  readonly descriptors: readonly Call[]
  readonly entries: readonly BatchEntry[]
  /** The entry of each group; undefined for one without calls. */
  readonly byGroup: readonly (BatchEntry | undefined)[]
  /** Whether every group is one call, all of one descriptor. */
  readonly alike: boolean
}

export function batchOf(groups: readonly CallGroup[]): Batch {
  const only = groups.length === 1 ? groups[0]?.calls : undefined
  if (only?.length === 1) return batchOfOne(only[0] as Call)
  const states = new Map<string, BatchState>()
  const { descriptors, indexOf } = createDescriptors()
  const entries: BatchEntry[] = []
  let last: BatchState | undefined
  const stateOf = (call: Call): BatchState => {
    const { id } = call
    // On a busy key most calls equal their neighbour, and building its name is most of the work of a request.
    if (last !== undefined && last.first.id.key === id.key && last.first.id.scope === id.scope) return last
    const state = newState(call, states.size)
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
    const { entry, isLog } = state
    if (entry === undefined || entry.states.length > 1 || isLog || entry.descriptors[0] !== index) return added([state], [index])
    // Entries of other states do not touch this one, so its calls may be encoded in a row.
    entry.times += 1
    return entry
  })
  return { states: [...states.values()], descriptors, entries, byGroup, alike: single && descriptors.length === 1 }
}

function batchOfOne(call: Call): Batch {
  const state = newState(call, 0)
  const entries = [{ states: [state], descriptors: [0], times: 1, passed: 0 }]
  return { states: [state], descriptors: [call], entries, byGroup: entries, alike: true }
}

function newState(call: Call, index: number): BatchState {
  const { id, limit } = call
  const key = encodeKey(id.key)
  return { name: id.scope.text + key, key, first: call, isLog: limit.algorithm.cells === 'log', index, entry: undefined }
}

/** Lists each different limit, cost and phase once; the last one is found without a lookup. */
function createDescriptors(): { readonly descriptors: readonly Call[]; indexOf(call: Call): number } {
  const descriptors: Call[] = []
  const known = new Map<AnyLimit, Map<string, number>>()
  let [last, index]: [Call | undefined, number] = [undefined, 0]
  return {
    descriptors,
    indexOf(call) {
      const { limit, cost, phase } = call
      if (last?.limit === limit && last.cost === cost && last.phase === phase) return index
      let indexes = known.get(limit)
      if (indexes === undefined) known.set(limit, (indexes = new Map()))
      const name = `${cost} ${phase}`
      index = indexes.get(name) ?? descriptors.push(call) - 1
      indexes.set(name, index)
      last = call
      return index
    },
  }
}
