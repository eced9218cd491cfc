import { HOLD_TAG, holdRecord, partName, RECORD_COST } from '../../algorithms/hold-record.ts'
import { scopeOf } from '../../keys/encode.ts'
import type { Call, CallGroup, Change, StateId } from '../../stores/store.ts'
import type { Micros } from '../../time/micros.ts'

/** The id of a hold's record. The record is stored with the states of its key: on the same server, and in the same slot of a Cluster. */
export function recordOf(key: string, id: string): StateId {
  return { scope: scopeOf('s', id, HOLD_TAG), key }
}

/** A group that holds the costs of its calls, all of one key, for `micros` microseconds. Its last call makes the record of the hold. */
export function heldGroup(calls: readonly Call[], id: string, micros: Micros): CallGroup {
  const parts = calls.map((call) => ({ name: partName(call.id.scope.text), held: call.cost }))
  const [first] = calls as readonly [Call]
  const record: Call = { id: recordOf(first.id.key, id), limit: holdRecord({ micros, final: false, parts }), cost: RECORD_COST, phase: 0 }
  return { calls: [...calls, record], options: { hold: { id, micros } } }
}

/** The change that settles a hold of these calls. @param actual the micro-tokens that were used; undefined: what was held stays charged */
export function settlementOf(calls: readonly Call[], id: string, actual: number | undefined): Change {
  const [first] = calls as readonly [Call]
  const used = calls.map((call) => ({ ...call, cost: actual ?? call.cost }))
  return { kind: 'settle', id: recordOf(first.id.key, id), calls: used, holder: id, ...(actual === undefined ? { stands: true } : {}) }
}
