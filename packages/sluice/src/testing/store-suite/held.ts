import { HOLD_TAG, holdRecord, partName, RECORD_COST } from '../../algorithms/hold-record.ts'
import { scopeOf } from '../../keys/encode.ts'
import type { Call, CallGroup, Change, StateId } from '../../stores/store.ts'
import type { Micros } from '../../time/micros.ts'

export function recordOf(key: string, id: string): StateId {
  return { scope: scopeOf('s', id, HOLD_TAG), key }
}

/** All calls must have the same key. The last call of the group makes the record of the hold. */
export function heldGroup(calls: readonly Call[], id: string, micros: Micros): CallGroup {
  const parts = calls.map((call) => ({ name: partName(call.id.scope.text), held: call.cost }))
  const [first] = calls as readonly [Call]
  const record: Call = { id: recordOf(first.id.key, id), limit: holdRecord({ micros, final: false, parts }), cost: RECORD_COST, phase: 0 }
  return { calls: [...calls, record], options: { hold: { id, micros } } }
}

/** @param actual micro-tokens that were used; undefined: what was held stays charged */
export function settlementOf(calls: readonly Call[], id: string, actual: number | undefined): Change {
  const [first] = calls as readonly [Call]
  const used = calls.map((call) => ({ ...call, cost: actual ?? call.cost }))
  return { kind: 'settle', id: recordOf(first.id.key, id), calls: used, holder: id, ...(actual === undefined ? { stands: true } : {}) }
}
