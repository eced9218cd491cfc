import type { AnyLimit } from '../../algorithms/algorithm.ts'
import { encodeKey } from '../../keys/encode.ts'
import type { Call, CallGroup } from '../store.ts'

/** One state of a batch. */
export interface BatchState {
  /** The text of its scope, followed by `key`. */
  readonly name: string
  /** The key, encoded by `encodeKey`. */
  readonly key: string
  /** The first call of this state. If its calls have different limits, the state is read with the limit of this one. */
  readonly first: Call
  /** Whether the state is a log. Logs may be long, so the program returns the verdicts of their calls instead of the state. */
  readonly isLog: boolean
  /** The state's index in the program's arguments and reply. States are first in the order of their calls; a store may reorder them. */
  index: number
  /** The last entry that uses this state. */
  entry: BatchEntry | undefined
}

/** A run, which is several groups of one and the same call, or a single group. */
export interface BatchEntry {
  /** The state of each call. */
  readonly states: readonly BatchState[]
  /** The index of each call's descriptor in the batch. */
  readonly descriptors: readonly number[]
  /** How many groups; 1 unless it is a run. */
  times: number
  /** How many of these groups passed in the replay. */
  passed: number
}

/**
 * Groups of calls in the form that programs in Lua and SQL take. It has three sections:
 *
 * 1. `states`: each state once, by name.
 * 2. `descriptors`: each combination of limit, cost and phase once.
 * 3. `entries`, in order: for a run its state, its descriptor and its number of groups; for a single group the state and the descriptor of
 *    each call.
 *
 * The reply has sections too: the time; each state as it was found (`FoundState`); the verdict of each call of a log (`reported.ts`); and
 * how many groups of each entry passed, which the replay must confirm. Each store encodes names and numbers in its own way.
 */
export interface Batch {
  readonly states: readonly BatchState[]
  readonly descriptors: readonly Call[]
  readonly entries: readonly BatchEntry[]
  /** The entry of each group; undefined for one without calls. */
  readonly byGroup: readonly (BatchEntry | undefined)[]
  /** Whether every group is one call, and all calls have one descriptor. */
  readonly alike: boolean
}

type IsLog = (limit: AnyLimit) => boolean

const variesInSize: IsLog = ({ algorithm }) => algorithm.cells === 'log'

/** @param isLog whether the program returns the verdicts of a limit's calls; default: if the size of its states varies */
export function batchOf(groups: readonly CallGroup[], isLog: IsLog = variesInSize): Batch {
  const only = groups.length === 1 ? groups[0]?.calls : undefined
  if (only?.length === 1) return batchOfOne(only[0] as Call, isLog)
  const states = new Map<string, BatchState>()
  const { descriptors, indexOf } = createDescriptors()
  const entries: BatchEntry[] = []
  let last: BatchState | undefined
  const stateOf = (call: Call): BatchState => {
    const { id } = call
    // On a busy key most calls have the state of the call before. For them the name is not built, which is most of the work of a call.
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
    // All entries after `entry` concern other states, so adding the group to it does not change the order for any state.
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

/** Lists each combination of limit, cost and phase once. A call with the descriptor of the call before needs no lookup. */
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
