import type { AnyLimit } from '../../algorithms/algorithm.ts'
import { encodeKey } from '../../keys/encode.ts'
import type { Call, CallGroup } from '../store.ts'

/** One state of a batch. */
export interface BatchState {
  /** The names of limiter, limit and algorithm (the text of the state's scope), followed by `key`. */
  readonly name: string
  /** The key, encoded by `encodeKey`. */
  readonly key: string
  /**
   * The first call of this state. If calls of the state have different limits, the reply's numbers are decoded by the limit of this call.
   */
  readonly first: Call
  /**
   * Whether the state is a sliding window log. A log may be long, so the program returns the verdicts of its calls instead of the state.
   */
  readonly isLog: boolean
  /**
   * The state's index in the program's arguments and reply. At first, states have the order of their first calls. A store may change the
   * order.
   */
  index: number
  /** The last entry that uses this state. */
  entry: BatchEntry | undefined
}

/** A single group of calls; or a run, which is several equal groups that each have one call. */
export interface BatchEntry {
  /** The state of each call of the group. */
  readonly states: readonly BatchState[]
  /** The index of the descriptor of each call of the group. */
  readonly descriptors: readonly number[]
  /** How many groups the entry has; 1 unless it is a run. */
  times: number
  /** How many of the groups have passed so far, when this process repeats the program's decisions with the kernels (`replay.ts`). */
  passed: number
}

/**
 * Groups of calls in the form that programs in Lua and SQL take. A batch has three sections:
 *
 * 1. `states`: each state once, by name.
 * 2. `descriptors`: each combination of limit, cost and phase (by which the windows of a key begin) once.
 * 3. `entries`, in order. A run has its state, its descriptor and its number of groups. A single group has the state and the descriptor of
 * each call.
 *
 * The reply has sections too: the time; each state as it was found (`FoundState`); the verdict of each call of a log (`reported.ts`); and
 * how many groups of each entry passed. This process then repeats the decisions on these states with the kernels, its own code of the
 * algorithms, and must find the same counts. Each store encodes names and numbers in its own way.
 */
export interface Batch {
  readonly states: readonly BatchState[]
  readonly descriptors: readonly Call[]
  readonly entries: readonly BatchEntry[]
  /** The entry to which each group belongs; undefined for a group without calls. */
  readonly byGroup: readonly (BatchEntry | undefined)[]
  /** Whether every group is a single call, and all calls have the same limit, cost and phase (`Call.phase`). */
  readonly alike: boolean
}

type IsLog = (limit: AnyLimit) => boolean

const variesInSize: IsLog = ({ algorithm }) => algorithm.cells === 'log'

/** @param isLog whether the program returns the verdicts of calls with this limit; default: if the size of the limit's states varies */
export function batchOf(groups: readonly CallGroup[], isLog: IsLog = variesInSize): Batch {
  const only = groups.length === 1 ? groups[0]?.calls : undefined
  if (only?.length === 1) return batchOfOne(only[0] as Call, isLog)
  const states = new Map<string, BatchState>()
  const { descriptors, indexOf } = createDescriptors()
  const entries: BatchEntry[] = []
  let last: BatchState | undefined
  const stateOf = (call: Call): BatchState => {
    const { id } = call
    // On a busy key, most calls have the same state as the call before. For these the name is not built, which would take most of the time.
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
    // No entry after `entry` has this state. So the group may be added to `entry`: for each state, the calls stay in their order.
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

/**
 * Makes the list of descriptors, in which each combination of limit, cost and phase (`Call.phase`) is once. It compares a call first with
 * the call before, and with the last call of the same limit. Only if these differ, it looks the call up by a text.
 */
function createDescriptors(): { readonly descriptors: readonly Call[]; indexOf(call: Call): number } {
  const descriptors: Call[] = []
  const known = new Map<AnyLimit, Map<string, number>>()
  /** The index of the last call's descriptor, by limit. */
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

/** Whether both calls have one descriptor. */
function isAlike(one: Call | undefined, { limit, cost, phase }: Call): boolean {
  return one !== undefined && one.limit === limit && one.cost === cost && one.phase === phase
}
