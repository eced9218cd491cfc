import type { Micros } from '../time/micros.ts'
import type { AnyLimit, HoldRequest, MicroTokens } from './algorithm.ts'
import { type HoldPart, type HoldState, KEPT_AFTER, partName } from './hold-record.ts'

/**
 * How a hold stands after a settlement or an extension.
 * - `open`: it can still be settled.
 * - `settled`: it was settled, now or before.
 * - `expired`: it ended before it was settled. What it charged stays charged.
 * - `unknown`: there is no such hold, or it ended more than a minute ago.
 */
export type HoldStatus = 'open' | 'settled' | 'expired' | 'unknown'

/** What a limit was charged for a hold, in micro-tokens. */
export type HeldPart = Pick<HoldPart, 'held' | 'charged' | 'overage'>

/** The answer to a settlement or an extension. */
export interface HoldReport {
  /** How the hold stands now. */
  readonly status: HoldStatus
  /** Set if the hold was settled before: nothing was changed, and the parts are those of the first settlement. */
  readonly repeated?: true
  /** Store time at which the hold ends, or ended; 0 if it is unknown. */
  readonly expires: Micros
  /** For each call of the change, in order; undefined for a limit that the hold did not charge. */
  readonly parts: readonly (HeldPart | undefined)[]
}

/** A limit of a hold that is settled. Calls of one state share the `slot`. */
export interface SettledCall {
  readonly slot: number
  readonly limit: AnyLimit
  readonly phase: number
  /** The text of the state's scope. */
  readonly scope: string
  /** What was used, in micro-tokens; at least 0. */
  readonly actual: MicroTokens
}

/** The result of a settlement or an extension. */
export interface HoldResult {
  readonly report: HoldReport
  /** The record to write; absent if it does not change. */
  readonly record?: HoldState
  /** By slot: the state to write; undefined if it is fresh now. */
  readonly writes: readonly { readonly slot: number; readonly limit: AnyLimit; readonly state: unknown }[]
}

/**
 * Settles a hold: the reference for every store. It changes the record and the limits together, or nothing.
 * @param record as stored; undefined if absent
 * @param states by slot, as stored; undefined if absent
 * @param stands what was held stays charged, whatever was used
 * @param holder who holds slots of concurrency limits; they are given back in any case
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

/** Lets an open hold and its slots end so long after the present, unless they end later already. Otherwise as `settleHold`. */
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
 * The report of a settlement where another program made it.
 * @param before how the hold stood before
 * @param record as it is left
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

/** How a hold stands; nothing was changed if it was settled before. */
export function reportOf(status: HoldStatus, record: HoldState | undefined, calls: readonly SettledCall[], stands: boolean): HoldReport {
  const known = status === 'unknown' ? undefined : record
  const parts = calls.map(({ scope, actual }): HeldPart | undefined => {
    const part = known?.parts.find(({ name }) => name === partName(scope))
    if (part === undefined) return undefined
    const { held, charged, overage } = part
    // Whoever settles too late used what is not charged any more.
    return { held, charged, overage: status === 'expired' && !stands ? Math.max(0, actual - charged) : overage }
  })
  const report = { status, expires: known?.expires ?? 0, parts }
  return status === 'settled' ? { ...report, repeated: true } : report
}
