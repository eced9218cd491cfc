import { HOLD_TAG, holdRecord, partName, RECORD_COST } from '../../algorithms/hold-record.ts'
import { scopeOf } from '../../keys/encode.ts'
import type { Call, CallGroup, Change, StateId } from '../../stores/store.ts'
import type { Micros } from '../../time/micros.ts'

/** The state of a hold's record. It lies where the states of its key lie. */
export function recordOf(key: string, id: string): StateId {
  return { scope: scopeOf('s', id, HOLD_TAG), key }
}

/** A group that charges calls of one key for a while. Its last call is its record. */
export function heldGroup(calls: readonly Call[], id: string, micros: Micros): CallGroup {
  const parts = calls.map((call) => ({ name: partName(call.id.scope.text), held: call.cost }))
  const [first] = calls as readonly [Call]
  const record: Call = { id: recordOf(first.id.key, id), limit: holdRecord({ micros, final: false, parts }), cost: RECORD_COST, phase: 0 }
  return { calls: [...calls, record], options: { hold: { id, micros } } }
}

/** Settles a hold of these calls with micro-tokens that were used; undefined: what was held stands. */
export function settlementOf(calls: readonly Call[], id: string, actual: number | undefined): Change {
  const [first] = calls as readonly [Call]
  const used = calls.map((call) => ({ ...call, cost: actual ?? call.cost }))
  return { kind: 'settle', id: recordOf(first.id.key, id), calls: used, holder: id, ...(actual === undefined ? { stands: true } : {}) }
}
