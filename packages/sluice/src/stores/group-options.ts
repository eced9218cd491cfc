import { chargedAhead } from '../algorithms/ahead.ts'
import type { AnyLimit, HoldRequest } from '../algorithms/algorithm.ts'
import type { Call, CallGroup, GroupOptions } from './store.ts'

/** The group's calls, with limits that its options `maxWait` and `hold` have changed. */
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

function isPlanned(calls: readonly Call[], { maxWait, hold }: GroupOptions): boolean {
  return maxWait === undefined && (hold === undefined || calls.every(({ limit }) => limit.algorithm.holding === undefined))
}

export function plannedGroups(groups: readonly CallGroup[]): readonly CallGroup[] {
  if (groups.every(({ calls, options }) => options === undefined || isPlanned(calls, options))) return groups
  return groups.map((group) => (group.options === undefined ? group : { ...group, calls: callsOf(group) }))
}

/** @param offered the option names in the store's capabilities */
export function offersAll(offered: readonly (keyof GroupOptions)[] | undefined, options: GroupOptions | undefined): boolean {
  for (const option in options) if (offered?.includes(option as keyof GroupOptions) !== true) return false
  return true
}
