import { chargedAhead } from '../algorithms/ahead.ts'
import type { AnyLimit, HoldRequest } from '../algorithms/algorithm.ts'
import type { Call, CallGroup, GroupOptions } from './store.ts'

/** The calls of a group as kernels decide them: charged ahead of their tokens if the group may wait for these, and held by its holder. */
export function callsOf({ calls, options }: CallGroup): readonly Call[] {
  if (options === undefined || isPlanned(calls, options)) return calls
  const { maxWait, hold } = options
  const waiting = (limit: AnyLimit): AnyLimit => (maxWait === undefined ? limit : chargedAhead(limit, maxWait))
  return calls.map((call) => ({ ...call, limit: heldBy(hold, waiting(call.limit)) }))
}

function heldBy(hold: HoldRequest | undefined, limit: AnyLimit): AnyLimit {
  const { algorithm, plan } = limit
  return hold === undefined || algorithm.holding === undefined ? limit : { ...limit, plan: algorithm.holding(plan, hold) }
}

/** Whether options change no limit of the calls. */
function isPlanned(calls: readonly Call[], { maxWait, hold }: GroupOptions): boolean {
  return maxWait === undefined && (hold === undefined || calls.every(({ limit }) => limit.algorithm.holding === undefined))
}

/** Groups whose calls are those that kernels decide. */
export function plannedGroups(groups: readonly CallGroup[]): readonly CallGroup[] {
  if (groups.every(({ calls, options }) => options === undefined || isPlanned(calls, options))) return groups
  return groups.map((group) => (group.options === undefined ? group : { ...group, calls: callsOf(group) }))
}

/** Whether a store with such capabilities offers every option of a group. */
export function offersAll(offered: readonly (keyof GroupOptions)[] | undefined, options: GroupOptions | undefined): boolean {
  return options === undefined || (Object.keys(options) as (keyof GroupOptions)[]).every((option) => offered?.includes(option) === true)
}
