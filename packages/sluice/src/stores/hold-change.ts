import { extendHold, type HoldResult, settleHold, type SettledCall } from '../algorithms/settle-hold.ts'
import { HOLD_RECORDS, type HoldState } from '../algorithms/hold-record.ts'
import type { AnyLimit } from '../algorithms/algorithm.ts'
import type { Micros } from '../time/micros.ts'
import type { HoldChange } from './change.ts'

/** `state` is undefined if it must be removed. `index`: 0 for the record of the hold, n for the state of the n-th call. */
export interface HoldWrite {
  readonly index: number
  readonly limit: AnyLimit
  readonly state: unknown
}

/**
 * Computes which states a `settle` or `extend` writes, and what it reports.
 * @param limits one for each call; their algorithms can read `states`
 * @param states as stored: that of the record, then that of each call
 * @param slots for each call the index of the first call that has the same state
 */
export function changeHold(
  change: HoldChange,
  limits: readonly AnyLimit[],
  states: readonly unknown[],
  slots: readonly number[],
  now: Micros,
): { readonly report: HoldResult['report']; readonly writes: readonly HoldWrite[] } {
  const [record, ...others] = states as [HoldState | undefined, ...unknown[]]
  const calls = change.calls.map(({ id, cost, phase }, index): SettledCall => {
    return { slot: slots[index] as number, limit: limits[index] as AnyLimit, phase, scope: id.scope.text, actual: cost }
  })
  const result =
    change.kind === 'settle'
      ? settleHold(record, others, calls, now, change.stands === true, change.holder)
      : extendHold(record, others, calls, now, { id: change.holder, micros: change.micros })
  const writes = result.writes.map(({ slot, ...write }): HoldWrite => ({ ...write, index: slot + 1 }))
  if (result.record !== undefined) writes.push({ index: 0, limit: HOLD_RECORDS, state: result.record })
  return { report: result.report, writes }
}
