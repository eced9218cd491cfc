import type { Micros } from '../time/micros.ts'
import type { AnyLimit, HoldRequest, MicroTokens } from './algorithm.ts'
import { type HoldPart, type HoldState, KEPT_AFTER, partName } from './hold-record.ts'

/**
 * The status of a hold after a settlement or an extension.
 * - `open`: it can still be settled.
 * - `settled`: it was settled, by this settlement or an earlier one.
 * - `expired`: it ended before it was settled. What it charged stays charged.
 * - `unknown`: there is no such hold, or it ended more than a minute ago.
 */
export type HoldStatus = 'open' | 'settled' | 'expired' | 'unknown'

/** What a limit was charged for a hold, in micro-tokens. */
export type HeldPart = Pick<HoldPart, 'held' | 'charged' | 'overage'>

/** The answer to a settlement or an extension. */
export interface HoldReport {
  /** The status of the hold after the change. */
  readonly status: HoldStatus
  /** Set if the hold was settled before. Then nothing was changed, and `parts` reports what the first settlement charged. */
  readonly repeated?: true
  /** Store time at which the hold ends, or ended; 0 if it is unknown. */
  readonly expires: Micros
  /** What each call of the change was charged, in order; undefined for a limit that the hold did not charge. */
  readonly parts: readonly (HeldPart | undefined)[]
}

/** One limit of a hold that is being settled. `slot` is the index of the limit's state. Calls of one state have the same index. */
export interface SettledCall {
  readonly slot: number
  readonly limit: AnyLimit
  readonly phase: number
  /** The text of the state's scope. */
  readonly scope: string
  /** What the hold really used of the limit, in micro-tokens; at least 0. */
  readonly actual: MicroTokens
}

/** The result of a settlement or an extension. */
export interface HoldResult {
  readonly report: HoldReport
  /** The record to write; absent if it does not change. */
  readonly record?: HoldState
  /** The states to write, each with its index (`slot`); undefined if the state now equals that of an unused key. */
  readonly writes: readonly { readonly slot: number; readonly limit: AnyLimit; readonly state: unknown }[]
}

/**
 * Settles a hold: a call that was charged before it was known what it would use. Every store must settle exactly as this function does. It
 * changes the record and the states of the limits together, or nothing.
 * @param record as stored; undefined if absent
 * @param states as stored, at the indexes that the calls have as `slot`; undefined if absent
 * @param stands true if what was charged stays charged, whatever `actual` says
 * @param holder the id under which the hold took slots of concurrency limits; these slots are given back, even if `stands`
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

/**
 * Moves the end of an open hold, and of the slots of concurrency limits that it took under `hold.id`, to `hold.micros` from now. An end
 * that is later already does not change, nor does a hold that is not open. The other parameters are those of `settleHold`.
 */
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
 * The report on a settlement that a program on the store's server (a script in Lua or SQL) made.
 * @param before the status of the hold before the settlement
 * @param record after the settlement
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

/** The report on a hold that this change did not settle. If its status is `settled`, an earlier settlement did, so `repeated` is set. */
export function reportOf(status: HoldStatus, record: HoldState | undefined, calls: readonly SettledCall[], stands: boolean): HoldReport {
  const known = status === 'unknown' ? undefined : record
  const parts = calls.map(({ scope, actual }): HeldPart | undefined => {
    const part = known?.parts.find(({ name }) => name === partName(scope))
    if (part === undefined) return undefined
    const { held, charged, overage } = part
    // After the end of a hold, nothing more is charged for it. What was used beyond the charge is overage.
    return { held, charged, overage: status === 'expired' && !stands ? Math.max(0, actual - charged) : overage }
  })
  const report = { status, expires: known?.expires ?? 0, parts }
  return status === 'settled' ? { ...report, repeated: true } : report
}
