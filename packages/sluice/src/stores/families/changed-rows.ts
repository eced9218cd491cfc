import type { AnyLimit } from '../../algorithms/algorithm.ts'
import type { Micros } from '../../time/micros.ts'
import { changeHold } from '../hold-change.ts'
import { type Change, type ChangeResult, givenBack, type HoldChange, isOfHold } from '../store.ts'
import { HOLD_RECORDS } from '../../algorithms/hold-record.ts'
import { ABSENT, rowWith, stateOf, type SwapRow } from './swap-row.ts'

type LimitOf = (limit: AnyLimit) => AnyLimit

/** `rows`: the rows that the change writes, by the index of their ids. */
interface Changed extends ChangeResult {
  readonly rows: ReadonlyMap<number, SwapRow>
}

/**
 * @param ids the row ids of `changedStates`
 * @param before the rows of these states
 */
export function changedRows(change: Change, ids: readonly string[], before: readonly SwapRow[], now: Micros, limitOf: LimitOf): Changed {
  if (isOfHold(change)) return ofHold(change, ids, before, now, limitOf)
  const row = before[0] as SwapRow
  const after = changedRow(change, row, now, limitOf)
  return { rows: new Map(after === row ? [] : [[0, after]]) }
}

function ofHold(change: HoldChange, ids: readonly string[], before: readonly SwapRow[], now: Micros, limitOf: LimitOf): Changed {
  const limits = change.calls.map(({ limit }) => limitOf(limit))
  const states = before.map((row, index) => stateOf(index === 0 ? HOLD_RECORDS : (limits[index - 1] as AnyLimit), row))
  const slots = ids.slice(1).map((id) => ids.indexOf(id) - 1)
  const { report, writes } = changeHold(change, limits, states, slots, now)
  const rows = writes.map(({ index, limit, state }): [number, SwapRow] => [index, rowAfter(before[index] as SwapRow, limit, state)])
  return { hold: report, rows: new Map(rows) }
}

function rowAfter(row: SwapRow, limit: AnyLimit, state: unknown): SwapRow {
  return state === undefined ? { ...ABSENT, until: row.until } : rowWith(row, limit, state)
}

/** Returns the same object if nothing changes. */
function changedRow(change: Exclude<Change, HoldChange>, row: SwapRow, now: Micros, limitOf: LimitOf): SwapRow {
  switch (change.kind) {
    case 'block':
      return { ...row, until: now + change.micros }
    case 'unblock':
      return row.until === 0 ? row : { ...row, until: 0 }
    case 'reset':
      return row.numbers.length === 0 ? row : { ...ABSENT, until: row.until }
    case 'leave':
    case 'release': {
      const limit = limitOf(change.call.limit)
      const stored = stateOf(limit, row)
      const left = givenBack(change, limit, stored, now)
      return left === stored ? row : rowAfter(row, limit, left)
    }
    case 'adjust': {
      const { phase } = change.call
      const limit = limitOf(change.call.limit)
      const { algorithm, plan } = limit
      const stored = stateOf(limit, row)
      const state = stored === undefined ? undefined : algorithm.adopt(plan, stored, now, phase)
      const adjusted: unknown = algorithm.adjust(plan, state, now, change.amount, phase, change.receipt)
      if (adjusted === stored) return row
      return rowAfter(row, limit, adjusted)
    }
  }
}
