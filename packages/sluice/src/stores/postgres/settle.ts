import { HOLD_RECORDS, type HoldState, partName } from '../../algorithms/hold-record.ts'
import { type HoldStatus, reportAfter, reportOf, type SettledCall } from '../../algorithms/settle-hold.ts'
import { holderOf } from '../../algorithms/concurrency.ts'
import { InvalidReply } from '../batch/replay.ts'
import { scopeOfLimit } from '../share-names.ts'
import { type ChangeResult, changedStates, type HoldChange } from '../store.ts'
import { arrayText, digestOf, digestsOf, plansOf } from './encode.ts'

/** Instead of an extension's length, to settle the hold: SETTLED charges what was really used, STANDS leaves what was held. */
const [SETTLED, STANDS] = [-1, -2]
const STATUSES: readonly HoldStatus[] = ['unknown', 'settled', 'open', 'expired']

export function settleValues(changes: readonly HoldChange[]): string[] {
  const ids = digestsOf(changes.flatMap(changedStates))
  const indexes = new Map(ids.map((id, index) => [id, index + 1]))
  const { plans, planOf } = plansOf()
  const numbers = changes.flatMap((change) => {
    const isSettled = change.kind === 'settle'
    const end = isSettled ? (change.stands === true ? STANDS : SETTLED) : change.micros
    const holder = holderOf(change.holder)
    const calls = change.calls.flatMap(({ id, limit, cost, phase }) => {
      return [partName(scopeOfLimit(id)), indexes.get(digestOf(id)) as number, planOf(limit), phase, cost]
    })
    return [indexes.get(digestOf(change.id)) as number, end, ...holder, change.calls.length, ...calls]
  })
  return [ids, [...plans.keys()], numbers].map(arrayText)
}

/** Reads the reply of `settle`, which settle.sql documents. @throws InvalidReply */
export function settleResults(numbers: readonly number[], changes: readonly HoldChange[]): ChangeResult[] {
  let at = 0
  const results = changes.map((change): ChangeResult => {
    const [status, size] = [STATUSES[numbers[at] ?? -1], numbers[at + 1] ?? 0]
    if (status === undefined || (status === 'unknown') !== (size === 0)) throw new InvalidReply()
    const record: HoldState = HOLD_RECORDS.algorithm.codec.decodeState(numbers.slice(at + 2, at + 2 + size))
    at += 2 + size
    const calls = change.calls.map(({ id, limit, cost, phase }): SettledCall => ({
      slot: 0,
      limit,
      phase,
      scope: scopeOfLimit(id),
      actual: cost,
    }))
    if (change.kind === 'extend') return { hold: reportOf(status, record, calls, true) }
    return { hold: reportAfter(status, record, calls, change.stands === true) }
  })
  if (at !== numbers.length || !numbers.every(Number.isSafeInteger)) throw new InvalidReply()
  return results
}
