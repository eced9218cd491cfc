import type { Micros } from '../time/micros.ts'
import type { AnyLimit, HoldRequest, MicroTokens } from './algorithm.ts'
import { type HoldPart, type HoldState, KEPT_AFTER, partName } from './hold-record.ts'

/**
 * - `open`: the hold can still be settled.
 * - `settled`: it was settled, by this settlement or an earlier one.
 * - `expired`: it ended before it was settled. What it charged stays charged.
 * - `unknown`: there is no such hold, or it ended more than a minute ago.
 */
export type HoldStatus = 'open' | 'settled' | 'expired' | 'unknown'

/** What a limit was charged for a hold, in micro-tokens. */
export type HeldPart = Pick<HoldPart, 'held' | 'charged' | 'overage'>

/** The answer to a settlement or an extension. */
export interface HoldReport {
  /** The status after the change. */
  readonly status: HoldStatus
  /** Set if the hold was settled before. Nothing was changed, and `parts` reports the first settlement. */
  readonly repeated?: true
  /** Store time at which the hold ends, or ended; 0 if unknown. */
  readonly expires: Micros
  /** Undefined for a limit that the hold did not charge. */
  readonly parts: readonly (HeldPart | undefined)[]
}

/** Calls of one state have the same `slot`, the state's index. */
export interface SettledCall {
  readonly slot: number
  readonly limit: AnyLimit
  readonly phase: number
  readonly scope: string
  /** What the hold really used of the limit; at least 0. */
  readonly actual: MicroTokens
}

export interface HoldResult {
  readonly report: HoldReport
  /** Absent if the record does not change. */
  readonly record?: HoldState
  /** `state` is undefined if it equals an unused key's. */
  readonly writes: readonly { readonly slot: number; readonly limit: AnyLimit; readonly state: unknown }[]
}

/**
 * Every store must settle exactly as this function does, and write record and states together or not at all.
 * @param states as stored, by `slot`
 * @param stands true if what was charged stays charged, whatever `actual` says
 * @param holder the id under which the hold took slots of concurrency limits; these are given back even if `stands`
 */
export function settleHold(
  record: HoldState | undefined,
  states: readonly unknown[],
  calls: readonly SettledCall[],
  now: Micros,
  stands: boolean,
  holder: string,
): HoldResult {
  const status = statusOf(record, now)
  if (record === undefined || status !== 'open') return { report: reportOf(status, record, calls, stands), writes: [] }
  const current = states.slice()
  const written = new Map<number, AnyLimit>()
  const parts = record.parts.map((part): HoldPart => {
    const call = calls.find(({ scope }) => partName(scope) === part.name)
    if (call === undefined) return part
    const { slot, limit, phase, actual } = call
    const { algorithm, plan } = limit
    const { release } = algorithm
    if (release !== undefined) {
      const left: unknown = release(plan, current[slot], now, holder)
      if (left !== current[slot]) written.set(slot, limit)
      current[slot] = left
      return { ...part, charged: 0 }
    }
    if (stands || algorithm.settle === undefined) return part
    const { held, mark } = part
    const state: unknown = current[slot] === undefined ? undefined : algorithm.adopt(plan, current[slot], now, phase)
    const after = algorithm.settle(plan, state, now, { held, actual, at: record.at, mark }, phase)
    if (after.state !== current[slot]) written.set(slot, limit)
    current[slot] = after.state
    return { ...part, charged: after.charged, overage: Math.max(0, actual - after.charged) }
  })
  const settled: HoldState = { ...record, settled: 1, parts }
  return {
    report: reportAfter('open', settled, calls, stands),
    record: settled,
    writes: [...written].map(([slot, limit]) => ({ slot, limit, state: current[slot] })),
  }
}

/** Moves the end of an open hold, and of its slots, to `hold.micros` from now. A later end stays. */
export function extendHold(
  record: HoldState | undefined,
  states: readonly unknown[],
  calls: readonly SettledCall[],
  now: Micros,
  hold: Required<HoldRequest>,
): HoldResult {
  const status = statusOf(record, now)
  if (record === undefined || status !== 'open') return { report: reportOf(status, record, calls, true), writes: [] }
  const writes = new Map<number, HoldResult['writes'][number]>()
  for (const { slot, limit, scope } of calls) {
    if (!record.parts.some(({ name }) => name === partName(scope))) continue
    const state: unknown = limit.algorithm.prolong?.(limit.plan, states[slot], now, hold)
    if (state !== undefined && state !== states[slot]) writes.set(slot, { slot, limit, state })
  }
  const extended: HoldState = { ...record, expires: Math.max(record.expires, now + hold.micros) }
  return { report: reportOf('open', extended, calls, true), record: extended, writes: [...writes.values()] }
}

/**
 * For a settlement by a program in Lua or SQL.
 * @param before the status before it
 */
export function reportAfter(before: HoldStatus, record: HoldState | undefined, calls: readonly SettledCall[], stands: boolean): HoldReport {
  if (before !== 'open') return reportOf(before, record, calls, stands)
  const { repeated: _, ...report } = reportOf('settled', record, calls, stands)
  return report
}

function statusOf(record: HoldState | undefined, now: Micros): HoldStatus {
  if (record === undefined || now >= record.expires + KEPT_AFTER) return 'unknown'
  if (record.settled !== 0) return 'settled'
  return now < record.expires ? 'open' : 'expired'
}

/** If the status is `settled`, an earlier settlement made it so. */
export function reportOf(status: HoldStatus, record: HoldState | undefined, calls: readonly SettledCall[], stands: boolean): HoldReport {
  const known = status === 'unknown' ? undefined : record
  const parts = calls.map(({ scope, actual }): HeldPart | undefined => {
    const part = known?.parts.find(({ name }) => name === partName(scope))
    if (part === undefined) return undefined
    const { held, charged, overage } = part
    // Nothing is charged after the end of a hold: use beyond the charge is overage.
    return { held, charged, overage: status === 'expired' && !stands ? Math.max(0, actual - charged) : overage }
  })
  const report = { status, expires: known?.expires ?? 0, parts }
  return status === 'settled' ? { ...report, repeated: true } : report
}
